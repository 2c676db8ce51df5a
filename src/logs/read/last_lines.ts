/** Reads the end of a log backward: the cost depends on what is wanted, not on the size of the file. */

import { LogCursor } from "./log_cursor.ts";
import { startOfTail } from "./log_tail.ts";

/** Limits of what is read. */
interface TailBounds {
  /** Maximum number of bytes; a longer tail loses its beginning. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Position to begin at. */
  readonly from?: number | undefined;
  /** Position to end at; only with a `count` of 0. */
  readonly until?: number | undefined;
}

/**
 * The last `count` lines of a log, byte for byte; with 0, the last `maxBytes`. Continues into the
 * archives if the file holds fewer. Empty if there is no file.
 */
export async function lastLines(
  path: string,
  count: number,
  { maxBytes = 1024 * 1024, from = 0, until = Infinity }: TailBounds = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const cursor = new LogCursor(path);
  try {
    const span = await cursor.open();
    if (span === undefined) return new Uint8Array();
    // Another program truncated the log: all of it was written after that position.
    const wanted = from > span.end ? span.base : from;
    const end = Math.min(span.end, until);
    const floor = Math.min(end, Math.max(wanted, span.from, end - maxBytes));
    cursor.end = end;
    cursor.position = count > 0 ? await startOfTail(path, cursor, span, count, floor) : floor;
    return await readAll(cursor);
  } finally {
    cursor.close();
  }
}

async function readAll(cursor: LogCursor): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) chunks.push(chunk);
  return await new Blob(chunks).bytes();
}

/** The last lines of a log as text without line ends. Invalid UTF-8 becomes U+FFFD. */
export async function lastTextLines(
  path: string,
  count: number,
  bounds?: TailBounds,
): Promise<string[]> {
  const text = new TextDecoder().decode(await lastLines(path, count, bounds));
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  // Empty text after the last newline is not a line.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
