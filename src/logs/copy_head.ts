/** The head of a log, copied and compared in pieces. */

import { sleep } from "../platform/clock.ts";
import { nextData } from "../platform/collapse.ts";
import { BLOCK_BYTES, fillAt } from "./read_at.ts";

const PIECE_BYTES = 256 * 1024;

/** After so many bytes it rests for as long as they took, so that the disk has time for others. */
const REST_EVERY_BYTES = 16 * 1024 * 1024;

/**
 * Copies the first `bytes` of a log to a new file and has them on the disk; with `toEnd` also what
 * comes while it copies. A hole stays one. How many bytes that were. Leaves nothing behind when it fails.
 */
export async function copyHead(
  log: string,
  path: string,
  bytes: number,
  toEnd: boolean,
): Promise<number> {
  const temporary = `${path}.tmp`;
  try {
    const copied = await copy(log, temporary, toEnd ? Infinity : bytes);
    if (!toEnd && copied < bytes) throw new Error(`"${log}" shrank while it was being archived`);
    await Deno.rename(temporary, path);
    return copied;
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

async function copy(log: string, path: string, bytes: number): Promise<number> {
  using from = await Deno.open(log);
  using to = await Deno.open(path, { write: true, create: true, truncate: true, mode: 0o600 });
  const { size } = await from.stat();
  const buffer = new Uint8Array(PIECE_BYTES);
  const rest = rests();
  let copied = 0;
  while (copied < bytes) {
    const room = buffer.subarray(0, Math.min(PIECE_BYTES, bytes - copied));
    const piece = await fillAt(from, copied, room);
    const next = piece[0] === 0 ? await holeEnd(log, from, copied) : copied;
    if (next > copied) {
      copied = await to.seek(Math.min(next, bytes), Deno.SeekMode.Start);
      continue;
    }
    await writeAll(to, piece);
    copied += piece.length;
    if (piece.length < room.length) break;
    // What comes while it copies is caught up with.
    if (copied < size) await rest(piece.length);
  }
  await to.truncate(copied);
  await to.syncData();
  return copied;
}

/** Where the hole ends that a position is in; the position itself when it is in none. */
async function holeEnd(log: string, file: Deno.FsFile, position: number): Promise<number> {
  return Math.min(nextData(log, position), (await file.stat()).size);
}

/** To be told how many bytes were copied; resolves when it may go on. */
function rests(): (bytes: number) => Promise<void> {
  let [left, since] = [REST_EVERY_BYTES, performance.now()];
  return async (bytes) => {
    left -= bytes;
    if (left > 0) return;
    await sleep(performance.now() - since);
    [left, since] = [REST_EVERY_BYTES, performance.now()];
  };
}

/** A write may be short, on a full disk above all. */
async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
}

/** Writes the first bytes of an archive back to the head of the log that they were copied from. */
export async function writeBack(log: string, archive: string, bytes: number): Promise<void> {
  using from = await Deno.open(archive);
  using to = await Deno.open(log, { write: true });
  await writeAll(to, await fillAt(from, 0, new Uint8Array(bytes)));
}

/** Whether a log begins with what is in its archive: it has not been truncated then. */
export async function sameHead(log: string, archive: string): Promise<boolean> {
  using from = await Deno.open(archive);
  using of = await Deno.open(log);
  const { size } = await from.stat();
  if ((await of.stat()).size < size) return false;
  const length = Math.min(size, BLOCK_BYTES);
  const [one, other] = await Promise.all([
    fillAt(from, 0, new Uint8Array(length)),
    fillAt(of, 0, new Uint8Array(length)),
  ]);
  return one.every((byte, index) => byte === other[index]);
}
