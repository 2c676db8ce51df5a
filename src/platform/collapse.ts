/**
 * Cuts bytes off the head of a file that others append to, in one step of the file system (ext4 and
 * xfs on Linux). By a call into the C library rather than by the `fallocate` command: a daemon that
 * is killed in the middle leaves no child behind which would cut later, after the next one looked.
 */

import { mayCallC, openLibc } from "./libc.ts";
import { isLinux } from "./os.ts";

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
export const CUT_UNIT: number = 4096;

type Library = Deno.StaticForeignLibraryInterface<typeof SYMBOLS>;

let library: Library | null | undefined;

/** Loaded at the first use and kept: every rotation needs it. */
function libc(): Library | null {
  return library ??= isLinux && mayCallC() ? load() : null;
}

function load(): Library | null {
  try {
    return openLibc(SYMBOLS);
  } catch {
    return null;
  }
}

/** Removes the first `bytes` of a file; false, and nothing changed, when that cannot be done here. */
export function collapseHead(path: string, bytes: number): Promise<boolean> {
  return allocate(path, COLLAPSE_RANGE, bytes);
}

/** Makes a hole of the first `bytes` of a file, which then read as zeros; false when it cannot. */
export function punchHead(path: string, bytes: number): Promise<boolean> {
  return allocate(path, KEEP_SIZE_PUNCH_HOLE, bytes);
}

async function allocate(path: string, mode: number, bytes: number): Promise<boolean> {
  const c = libc();
  if (c === null) return false;
  const fd = openWith(c, path);
  if (fd < 0) return false;
  try {
    return await c.fallocate(fd, mode, 0n, BigInt(bytes)) === 0;
  } finally {
    c.close(fd);
  }
}

/**
 * Position of the first byte from `position` on that is in no hole; Infinity when only a hole is left.
 * `position` itself where that cannot be told.
 */
export function nextData(path: string, position: number): number {
  const c = libc();
  const fd = c === null ? -1 : openWith(c, path);
  if (c === null || fd < 0) return position;
  try {
    const next = Number(c.lseek(fd, BigInt(position), SEEK_DATA));
    return next < 0 ? Infinity : next;
  } finally {
    c.close(fd);
  }
}

/** Whether a file begins with a hole, as `punchHead()` makes it and no writer does. */
export function beginsWithHole(path: string): boolean {
  const c = libc();
  const fd = c === null ? -1 : openWith(c, path);
  if (c === null || fd < 0) return false;
  try {
    return c.lseek(fd, 0n, SEEK_HOLE) === 0n;
  } finally {
    c.close(fd);
  }
}

function openWith(c: Library, path: string): number {
  return c.open(new TextEncoder().encode(`${path}\0`), O_RDWR_CLOEXEC);
}

const known = new Map<number, boolean>();

/** Whether files in a folder can be cut at their head: tried once a file system. */
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
    if (!await punchHead(path, unit) || !beginsWithHole(path)) return false;
    return await collapseHead(path, unit) && (await Deno.stat(path)).size === unit;
  } finally {
    await Deno.remove(path).catch(() => {});
  }
}

/** The unit of cuts in a file whose system reports blocks of that size. */
export function cutUnit(blockSize: number | null): number {
  return Math.max(CUT_UNIT, blockSize ?? 0);
}
