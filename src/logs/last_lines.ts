/** The end of a log, found from its end: what it costs depends on what is asked, not on the file. */

import { LogCursor } from "./log_cursor.ts";
import { startOfTail } from "./log_tail.ts";

/**
 * The last `count` lines of a log, byte for byte; with 0 as much of its end as `maxBytes` holds,
 * which also bounds the rest: of a longer end the beginning is missing; nothing of before the position
 * `from`. What the file does not hold is taken from its archives. Empty without a file.
 */
export async function lastLines(
  path: string,
  count: number,
  maxBytes: number = 1024 * 1024,
  from: number = 0,
): Promise<Uint8Array<ArrayBuffer>> {
  const cursor = new LogCursor(path);
  try {
    const span = await cursor.open();
    if (span === undefined) return new Uint8Array();
    // Another program has truncated it: all of it was written after that position.
    const wanted = from > span.end ? span.base : from;
    const floor = Math.min(span.end, Math.max(wanted, span.from, span.end - maxBytes));
    cursor.end = span.end;
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

/** The last lines of a file as text without line ends; bytes that are no UTF-8 become U+FFFD. */
export async function lastTextLines(
  path: string,
  count: number,
  maxBytes?: number,
  from?: number,
): Promise<string[]> {
  const text = new TextDecoder().decode(await lastLines(path, count, maxBytes, from));
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  // What stands after the last newline is no line when it is empty.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
