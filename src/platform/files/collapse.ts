/**
 * Cuts bytes off the head of a file that others append to, in one step of the file system (ext4 and
 * xfs on Linux). Calls the C library, not the `fallocate` command: a command left behind by a
 * killed daemon could cut after the next daemon has looked.
 */

import { ifPossible } from "../../model/errors.ts";
import { mayCallC, openLibc } from "../libc.ts";
import { isLinux } from "../os.ts";

const SYMBOLS = {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  lseek: { parameters: ["i32", "i64", "i32"], result: "i64" },
  // May wait for the disk: not on the thread of the event loop.
  fallocate: { parameters: ["i32", "i32", "i64", "i64"], result: "i32", nonblocking: true },
} as const satisfies Deno.ForeignLibraryInterface;

const O_RDWR_CLOEXEC = 0o2000002;
const KEEP_SIZE_PUNCH_HOLE = 3;
const COLLAPSE_RANGE = 8;
const SEEK_DATA = 3;
const SEEK_HOLE = 4;

/** Cuts are multiples of this, or of the file system's block where that is larger. */
const CUT_UNIT: number = 4096;

/** An open file, and the calls for it. */
interface OpenFile extends Disposable {
  readonly c: Deno.StaticForeignLibraryInterface<typeof SYMBOLS>;
  readonly fd: number;
}

/** Undefined if the file cannot be opened, or the calls are not possible here. */
function open(path: string): OpenFile | undefined {
  const c = isLinux && mayCallC() ? ifPossible(() => openLibc(SYMBOLS)) : undefined;
  const fd = c?.open(new TextEncoder().encode(`${path}\0`), O_RDWR_CLOEXEC) ?? -1;
  if (c === undefined || fd < 0) return undefined;
  return { c, fd, [Symbol.dispose]: () => void c.close(fd) };
}

/** Removes the first `bytes` of a file; false when that cannot be done here. */
export function collapseHead(path: string, bytes: number): Promise<boolean> {
  return allocate(path, COLLAPSE_RANGE, 0, bytes);
}

/** Turns the first `bytes` of a file into a hole, which reads as zeros; false on failure. */
export function punchHead(path: string, bytes: number): Promise<boolean> {
  return allocate(path, KEEP_SIZE_PUNCH_HOLE, 0, bytes);
}

async function allocate(
  path: string,
  mode: number,
  start: number,
  bytes: number,
): Promise<boolean> {
  using file = open(path);
  return await file?.c.fallocate(file.fd, mode, BigInt(start), BigInt(bytes)) === 0;
}

/**
 * First position from `position` on that is not in a hole; Infinity when only a hole follows.
 * `position` itself when the system cannot tell.
 */
export function nextData(path: string, position: number): number {
  using file = open(path);
  if (file === undefined) return position;
  const next = Number(file.c.lseek(file.fd, BigInt(position), SEEK_DATA));
  return next < 0 ? Infinity : next;
}

/** A hole of a file. It ends where data follows, or at the end of the file. */
interface Hole {
  readonly start: number;
  readonly end: number;
}

/** The first hole of a file; undefined without one. Appending makes no holes. */
export function firstHole(path: string): Hole | undefined {
  using file = open(path);
  if (file === undefined) return undefined;
  const { size } = Deno.statSync(path);
  const start = Number(file.c.lseek(file.fd, 0n, SEEK_HOLE));
  if (start < 0 || start >= size) return undefined;
  return { start, end: Math.min(nextData(path, start), size) };
}

/**
 * Removes the hole left by a collapse of `bytes` that was killed halfway: xfs has then moved what
 * follows the head, but the file has its old length, so that the next append lands behind a hole.
 * The blocks before and behind the hole are two parts of one block, each with zeros in place of the
 * other part. Merged they are whole again. May be killed and repeated.
 */
export async function closeGap(path: string, bytes: number): Promise<void> {
  const hole = firstHole(path);
  if (hole === undefined || hole.start === 0) return;
  const { size, blksize } = Deno.statSync(path);
  const shared = bytes - (hole.end - hole.start);
  if (shared < 0 || shared > cutUnit(blksize)) return;
  using file = Deno.openSync(path, { read: true, write: true });
  overlay(file, hole, shared);
  if (size > hole.end + shared) {
    // If it stayed, it would look like the mark of a collapse once it is at the head.
    const closed = await allocate(path, COLLAPSE_RANGE, hole.start, bytes);
    if (!closed) throw new Error(`The gap at byte ${hole.start} of "${path}" cannot be closed`);
  } else {
    // What was written since the kill fits into a block. At most one more line is being written.
    file.truncateSync(file.statSync().size - bytes);
  }
}

/** Merges the first bytes behind a hole into the last ones before it. */
function overlay(file: Deno.FsFile, { start, end }: Hole, bytes: number): void {
  const [before, behind] = [new Uint8Array(bytes), new Uint8Array(bytes)];
  file.seekSync(start - bytes, Deno.SeekMode.Start);
  file.readSync(before);
  file.seekSync(end, Deno.SeekMode.Start);
  file.readSync(behind);
  file.seekSync(start - bytes, Deno.SeekMode.Start);
  file.writeSync(before.map((byte, index) => byte | behind[index]!));
}

const known = new Map<number, boolean>();

/** Whether files in a folder can be cut at their head. Tested once per file system. */
export async function canCollapse(folder: string): Promise<boolean> {
  const { dev } = await Deno.stat(folder);
  const before = known.get(dev);
  if (before !== undefined) return before;
  const works = await tryCollapse(folder);
  known.set(dev, works);
  return works;
}

async function tryCollapse(folder: string): Promise<boolean> {
  const path = `${folder}/.cut-${crypto.randomUUID()}.tmp`;
  try {
    const { blksize } = await Deno.stat(folder);
    const unit = cutUnit(blksize);
    await Deno.writeFile(path, new Uint8Array(2 * unit), { createNew: true, mode: 0o600 });
    if (!await punchHead(path, unit) || firstHole(path)?.start !== 0) return false;
    return await collapseHead(path, unit) && (await Deno.stat(path)).size === unit;
  } finally {
    await Deno.remove(path).catch(() => {});
  }
}

/** The unit of cuts on a file system with this block size. */
export function cutUnit(blockSize: number | null): number {
  return Math.max(CUT_UNIT, blockSize ?? 0);
}
