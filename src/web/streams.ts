/** Streams of objects as HTTP bodies: a JSON line each, or server-sent events for a browser. */

import { accepts } from "../npm/http.js";
import type { LogLines } from "./backend.ts";
import { reply } from "./reply.ts";

const LINES = "application/x-ndjson";
const EVENTS = "text/event-stream";

const encoder = new TextEncoder();

/** An endless or long answer, in the form that the client asks for by its `Accept` header. */
export function streamReply(items: ReadableStream<unknown>, request: Request): Response {
  return wantsEvents(request)
    ? eventStream(items, (item) => encoder.encode(eventText(item)))
    : lineStream(items, (item) => encoder.encode(`${JSON.stringify(item)}\n`));
}

/** The same of lines of logs. */
export function logReply(batches: ReadableStream<LogLines>, request: Request): Response {
  return wantsEvents(request)
    ? eventStream(batches, ({ ndjson }) => eventBytes(ndjson))
    : lineStream(batches, ({ ndjson }) => ndjson);
}

function wantsEvents(request: Request): boolean {
  return accepts(request, LINES, EVENTS) === EVENTS;
}

/** JSON holds no newline, so that each one ends an item; what else ends lines may be in a log. */
function eventBytes(ndjson: Uint8Array): Uint8Array<ArrayBuffer> {
  const items = new TextDecoder().decode(ndjson.subarray(0, -1));
  return encoder.encode(`data: ${items.replaceAll("\n", "\n\ndata: ")}\n\n`);
}

function eventText(item: unknown): string {
  return `data: ${JSON.stringify(item)}\n\n`;
}

function eventStream<T>(
  items: ReadableStream<T>,
  bytesOf: (item: T) => Uint8Array<ArrayBuffer>,
): Response {
  // Something goes out at once, so that the client knows that it is connected.
  return stream(items, bytesOf, EVENTS, encoder.encode(": connected\n\n"));
}

function lineStream<T>(
  items: ReadableStream<T>,
  bytesOf: (item: T) => Uint8Array<ArrayBuffer>,
): Response {
  return stream(items, bytesOf, LINES);
}

function stream<T>(
  items: ReadableStream<T>,
  bytesOf: (item: T) => Uint8Array<ArrayBuffer>,
  type: string,
  first?: Uint8Array<ArrayBuffer>,
): Response {
  const body = items.pipeThrough(
    new TransformStream<T, Uint8Array<ArrayBuffer>>({
      start: (out) => first && out.enqueue(first),
      transform: (item, out) => out.enqueue(bytesOf(item)),
    }),
  );
  return reply(body, { "content-type": type, "cache-control": "no-store" });
}
