/** Streams of objects as HTTP bodies: a JSON line each, or server-sent events for a browser. */

import { reply } from "./reply.ts";

const encoder = new TextEncoder();

/** An endless or long answer, in the form that the client asks for by its `Accept` header. */
export function streamReply(
  items: ReadableStream<unknown>,
  accept: string | undefined,
): Response {
  const asEvents = accept?.includes("text/event-stream") ?? false;
  const text = asEvents
    ? (item: unknown) => `data: ${JSON.stringify(item)}\n\n`
    : (item: unknown) => `${JSON.stringify(item)}\n`;
  const body = items.pipeThrough(
    new TransformStream<unknown, Uint8Array<ArrayBuffer>>({
      // Something goes out at once, so that the client knows that it is connected.
      start: (out) => asEvents ? out.enqueue(encoder.encode(": connected\n\n")) : undefined,
      transform: (item, out) => out.enqueue(encoder.encode(text(item))),
    }),
  );
  return reply(body, {
    "content-type": asEvents ? "text/event-stream" : "application/x-ndjson",
    "cache-control": "no-store",
  });
}
