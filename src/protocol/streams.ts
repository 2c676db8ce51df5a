/** Reads streams of the daemon, one JSON object per line, and continues them at the next daemon. */

import { hasCode, messageOf, ProcsupError } from "../model/errors.ts";
import { sleep } from "../platform/clock.ts";
import type { ShutdownNoticeJson } from "./process_json.ts";
import { errorOf } from "./envelope.ts";
import { DAEMON_PATIENCE_MS } from "./liveness.ts";
import { commandHint } from "../model/hint.ts";

interface StreamItem<T> {
  readonly value: T;
  readonly line: string;
  /** True for the last one of those that arrived together. */
  readonly isLast: boolean;
}

/**
 * The objects of a stream, each with its line. Throws the error that the daemon sends, or `closed` if
 * the stream broke off or, with `forEver`, ended.
 */
export async function* ndjson<T>(
  stream: ReadableStream<Uint8Array>,
  forEver: boolean,
): AsyncGenerator<StreamItem<T>> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const bytes of untilGone(stream)) {
    const pieces = (held + decoder.decode(bytes, { stream: true })).split("\n");
    held = pieces.pop()!;
    // Empty lines keep an idle connection open.
    const lines = pieces.filter((piece) => piece !== "");
    for (const [index, line] of lines.entries()) {
      const value = JSON.parse(line);
      if (isFailure(value)) throw errorOf(value);
      yield { value, line, isLast: index === lines.length - 1 };
    }
  }
  if (forEver) throw gone();
}

async function* untilGone(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await read(reader); next !== undefined; next = await read(reader)) yield next;
  } finally {
    // The consumer may stop before the end: close the connection.
    await reader.cancel().catch(() => {});
  }
}

/** Only a failed read means that the daemon is gone; errors of the consumer pass through. */
async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<Uint8Array | undefined> {
  try {
    return (await reader.read()).value;
  } catch (cause) {
    throw cause instanceof ProcsupError ? cause : gone(cause);
  }
}

/** Only errors have both fields. */
function isFailure(value: Readonly<Record<string, unknown>>): boolean {
  return value.error !== undefined && value.code !== undefined;
}

function gone(cause?: unknown): ProcsupError {
  return new ProcsupError("closed", "The daemon has gone", { cause, hint: commandHint("status") });
}

export interface Followed<T> {
  /** Opens the stream, or reopens it where it broke off. */
  readonly open: () => AsyncIterable<T> | Promise<AsyncIterable<T>>;
  /** Called each time the stream is open; `again` is true from the second time. */
  readonly opened?: (again: boolean) => void | Promise<void>;
  /** Called each time the stream breaks off or cannot be opened. */
  readonly lost?: () => void;
  readonly note?: (message: string) => void;
  /** Ends the stream without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Retry forever on any error; the caller reports problems in its own way. */
  readonly forEver?: boolean;
}

/** Delay before reopening the stream; it doubles up to the maximum. */
const RETRY_MS = 50;
const MAX_RETRY_MS = 2000;

/**
 * The objects of an endless stream, across daemons. Throws the error of the first attempt to open it,
 * `closed` if the daemon was shut down, or the error that broke the stream if no daemon comes back.
 */
export async function* following<T extends object>(
  { open, opened, lost, note, signal, forEver = false }: Followed<T>,
): AsyncGenerator<T, void> {
  let again = false;
  let pause = RETRY_MS;
  let failed: { readonly error: unknown; readonly until: number } | undefined;
  let shutdownNotice: ShutdownNoticeJson | undefined;
  let isNoted = false;
  const noteOnce = (message: string) => {
    if (!isNoted) note?.(message);
    isNoted = true;
  };
  while (!signal?.aborted) {
    let isOpen = false;
    try {
      const items = await open();
      isOpen = true;
      await opened?.(again);
      again = true;
      failed = shutdownNotice = undefined;
      isNoted = false;
      for await (const item of items) {
        pause = RETRY_MS;
        if (!isShutdownNotice(item)) yield item;
        else if ((shutdownNotice = item).type === "upgrading") {
          noteOnce(`the daemon is being upgraded to version ${shutdownNotice.to}; this continues`);
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
      // After a rotation of the token the next attempt sends the new one.
      const isPassing = isAbsent(error) || (isOpen && hasCode(error, "unauthorized"));
      const mayReturn = again && isPassing && shutdownNotice?.type !== "shutdown";
      if (!forEver && !mayReturn) throw error;
      // Another daemon is often there at once.
      if (again && !isOpen) noteOnce(`${messageOf(error)}; retrying`);
      // An upgrade that fails waits for the new daemon, and then for the old one.
      const patience = (shutdownNotice?.type === "upgrading" ? 3 : 1) * DAEMON_PATIENCE_MS;
      failed ??= { error, until: performance.now() + patience };
      if (!forEver && performance.now() > failed.until) throw failed.error;
    }
    lost?.();
    await sleep(pause, signal);
    pause = Math.min(pause * 2, MAX_RETRY_MS);
  }
}

/** The objects of an endless stream of one daemon. Throws `closed` when it ends. */
export async function* unending<T>(stream: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  for await (const { value } of ndjson<T>(stream, true)) yield value;
}

function isShutdownNotice(value: object): value is ShutdownNoticeJson {
  return "type" in value && (value.type === "upgrading" || value.type === "shutdown");
}

function isAbsent(error: unknown): boolean {
  return hasCode(error, "closed", "daemon_unreachable", "host_unreachable");
}
