/** Copies the head of a log, and compares it, in pieces. */

import { ifPossible } from "../../model/errors.ts";
import { sleep } from "../../platform/clock.ts";
import { cutUnit, nextData } from "../../platform/files/collapse.ts";
import { lstatIfAny } from "../../platform/files/stat.ts";
import type { Archive } from "./archives.ts";
import { BLOCK_BYTES, fillAt } from "../read/read_at.ts";

const PIECE_BYTES = 256 * 1024;

/** After this many bytes the copy pauses for as long as they took, to leave the disk to others. */
const REST_EVERY_BYTES = 16 * 1024 * 1024;

/**
 * Copies the first `bytes` of a log to a new file and syncs it; with `toEnd`, also what is appended
 * meanwhile. Holes stay holes. Returns the number of bytes copied. Removes the file on failure.
 */
export async function copyHead(
  log: string,
  path: string,
  bytes: number,
  toEnd: boolean,
): Promise<number> {
  try {
    const copied = await copy(log, path, toEnd ? Infinity : bytes);
    if (!toEnd && copied < bytes) throw new Error(`"${log}" shrank while it was being archived`);
    return copied;
  } catch (error) {
    await Deno.remove(path).catch(() => {});
    throw error;
  }
}

/**
 * Makes a file of the size of a head that is dropped. Only its first block has content: with it, a cut
 * that fails is undone.
 */
export async function copyHollow(
  log: string,
  path: string,
  bytes: number,
  unit: number,
): Promise<number> {
  const copied = await copyHead(log, path, unit, false);
  await Deno.truncate(path, Math.max(bytes, copied));
  return bytes;
}

/** Whether an archive was made by `copyHollow()`. */
export function isHollow({ path, compressed }: Archive): boolean {
  const info = compressed ? undefined : lstatIfAny(path);
  return info !== undefined && info.blocks !== null && info.size > cutUnit(info.blksize) &&
    info.blocks * BLOCKS_UNIT <= cutUnit(info.blksize);
}

/** Bytes of a block in the count of a file's blocks. */
const BLOCKS_UNIT = 512;

/**
 * Lets those read a new file who may read another one. Its folder must be one in which no other user
 * could have replaced it.
 */
export function takeReaders(path: string, { mode, gid }: Deno.FileInfo): void {
  const readers = (mode ?? 0) & 0o044;
  if (readers === 0) return;
  // Only root may give it to every group. A group without it reads nothing.
  if (gid !== null && Deno.statSync(path).gid !== gid) {
    ifPossible(() => Deno.chownSync(path, null, gid));
  }
  Deno.chmodSync(path, 0o600 | readers);
}

async function copy(log: string, path: string, bytes: number): Promise<number> {
  using from = await Deno.open(log);
  using to = await Deno.open(path, { write: true, create: true, truncate: true, mode: 0o600 });
  const info = await from.stat();
  takeReaders(path, info);
  const { size } = info;
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
    // Do not rest in the part that was appended meanwhile: catch up with it.
    if (copied < size) await rest(piece.length);
  }
  await to.truncate(copied);
  await to.syncData();
  return copied;
}

/** End of the hole at a position; the position itself if there is no hole. */
async function holeEnd(log: string, file: Deno.FsFile, position: number): Promise<number> {
  return Math.min(nextData(log, position), (await file.stat()).size);
}

/** Returns a function that takes the number of bytes copied and resolves when to continue. */
function rests(): (bytes: number) => Promise<void> {
  let [left, since] = [REST_EVERY_BYTES, performance.now()];
  return async (bytes) => {
    left -= bytes;
    if (left > 0) return;
    await sleep(performance.now() - since);
    [left, since] = [REST_EVERY_BYTES, performance.now()];
  };
}

/** Writes may be short, for example on a full disk. */
async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
}

/** Maximum to move at once, since everything else waits meanwhile. */
const MAX_REST_BYTES = 64 * 1024 * 1024;

/**
 * Appends what was written since to the copy of a log, then empties the log. Only what is written
 * between the last read and the truncation is lost. Returns the size of the copy. Throws if there is
 * too much.
 */
export function moveRest(log: string, copy: string): number {
  using from = Deno.openSync(log, { read: true, write: true });
  using to = Deno.openSync(copy, { append: true });
  const buffer = new Uint8Array(PIECE_BYTES);
  const before = to.statSync().size;
  let copied = from.seekSync(before, Deno.SeekMode.Start);
  for (let count = from.readSync(buffer); count !== null; count = from.readSync(buffer)) {
    for (let done = 0; done < count;) done += to.writeSync(buffer.subarray(done, count));
    copied += count;
    if (copied - before > MAX_REST_BYTES) throw new Error("It grows faster than it can be copied");
  }
  from.truncateSync(0);
  to.syncDataSync();
  return copied;
}

/**
 * Writes the first bytes of a copy back to the head of the log they came from. The first block comes
 * last: a hole there means that the work is not finished.
 */
export async function writeBack(
  log: string,
  copy: string,
  bytes: number,
  block: number,
): Promise<void> {
  using from = await Deno.open(copy);
  using to = await Deno.open(log, { write: true });
  const buffer = new Uint8Array(PIECE_BYTES);
  const put = async (start: number, end: number) => {
    to.seekSync(start, Deno.SeekMode.Start);
    await writeAll(to, await fillAt(from, start, buffer.subarray(0, end - start)));
  };
  for (let start = block; start < bytes; start += PIECE_BYTES) {
    await put(start, Math.min(start + PIECE_BYTES, bytes));
  }
  await put(0, block);
}

/** Whether a log begins with its copy, so that it has not been truncated. */
export async function sameHead(log: string, copy: string): Promise<boolean> {
  using from = await Deno.open(copy);
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
