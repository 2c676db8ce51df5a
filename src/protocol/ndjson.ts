/** Reads streams of the daemon: one JSON object per line. */

import { ProcsupError } from "../model/errors.ts";
import { errorOf } from "./error_json.ts";

/**
 * The objects of a stream, each with its line. Throws the error that the daemon sends, or `closed` if
 * the stream broke off or, with `forEver`, ended.
 */
export async function* ndjson<T>(
  stream: ReadableStream<Uint8Array>,
  forEver: boolean,
): AsyncGenerator<{ readonly value: T; readonly line: string }> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const bytes of untilGone(stream)) {
    const lines = (held + decoder.decode(bytes, { stream: true })).split("\n");
    held = lines.pop()!;
    for (const line of lines) {
      // An empty line keeps an idle stream alive.
      if (line === "") continue;
      const value = JSON.parse(line);
      if (isFailure(value)) throw errorOf(value);
      yield { value, line };
    }
  }
  if (forEver) throw gone();
}

async function* untilGone(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await read(reader); next !== undefined; next = await read(reader)) yield next;
  } finally {
    reader.releaseLock();
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
  return new ProcsupError("closed", "The daemon has gone", { cause, hint: "procsup ping" });
}
