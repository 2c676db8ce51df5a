/**
 * Reads files that another user may control, on Linux with that user's rights. Opening one never
 * waits (for the writer of a FIFO, or the holder of a lease) and never makes a terminal ours. Only
 * regular files are read, up to a limit.
 */

import type { OtherUser } from "../users/as_user.ts";
import { errno, mayCallC, openLibc } from "../libc.ts";
import { isLinux } from "../os.ts";

/** How a file is read. */
interface ForeignFileOptions {
  /**
   * The user with whose rights it is opened; our own unless given. Links are followed with these
   * rights, except links in `/proc`, which bypass folders that the user cannot enter.
   */
  readonly as?: OtherUser | undefined;
  /** A larger file is refused. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 1024 * 1024;

/**
 * The text of a file. Throws `Deno.errors.NotFound`, `PermissionDenied`, or another error that says
 * what is wrong with the file.
 */
export function readForeignFile(
  path: string,
  { as, maxBytes = MAX_BYTES }: ForeignFileOptions = {},
): string {
  using file = open(path, as);
  const bytes = head(file, maxBytes + 1);
  if (bytes.length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  return text(bytes);
}

/** Refuses other encodings: replaced characters would change a password without a message. */
function text(bytes: Uint8Array<ArrayBuffer>): string {
  try {
    return new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(bytes);
  } catch {
    throw new Error("it is not text in UTF-8");
  }
}

/** The first `bytes` of a file as text. Throws as `readForeignFile()`. */
export function headOfForeignFile(path: string, bytes: number, as?: OtherUser): string {
  using file = open(path, as);
  return new TextDecoder().decode(head(file, bytes));
}

/** The first `bytes` of a file that no other user can replace. Throws as `readForeignFile()`. */
export function headOfOwnFile(path: string, bytes: number): string {
  using file = openPlainly(path);
  return new TextDecoder().decode(head(file, bytes));
}

/**
 * The first `bytes` of a file that runs as `user`, without one as ours: our own programs are trusted,
 * and need no call of the C library. Throws as `readForeignFile()`.
 */
export function headOfProgram(path: string, bytes: number, user?: OtherUser): string {
  return user === undefined ? headOfOwnFile(path, bytes) : headOfForeignFile(path, bytes, user);
}

/** A file that is open; `read` returns how many bytes it read, 0 at the end. */
interface OpenFile extends Disposable {
  read(into: Uint8Array<ArrayBuffer>): number;
}

const PIECE_BYTES = 16 * 1024;

function head(file: OpenFile, bytes: number): Uint8Array<ArrayBuffer> {
  let buffer = new Uint8Array(Math.min(bytes, PIECE_BYTES));
  for (let filled = 0;;) {
    const count = file.read(buffer.subarray(filled));
    filled += count;
    if (count === 0 || filled === bytes) return buffer.subarray(0, filled);
    if (filled < buffer.length) continue;
    const larger = new Uint8Array(Math.min(bytes, 2 * buffer.length));
    larger.set(buffer);
    buffer = larger;
  }
}

function open(path: string, as: OtherUser | undefined): OpenFile {
  if (path.includes("\0")) throw new Error("its path holds a NUL");
  if (isLinux && mayCallC()) return openByCall(path, as);
  if (as !== undefined) throw new Error("to read it as another user takes Linux and --allow-ffi");
  // Here no app runs as another user.
  return openPlainly(path);
}

/** A user who replaces the file between the two calls can make us wait. */
function openPlainly(path: string): OpenFile {
  refuseOther(path);
  const file = Deno.openSync(path);
  return { read: (into) => file.readSync(into) ?? 0, [Symbol.dispose]: () => file.close() };
}

function refuseOther(path: string): void {
  const { isFile, isDirectory } = Deno.statSync(path);
  if (isDirectory) throw new Deno.errors.IsADirectory("it is a folder");
  if (!isFile) throw new Error("it is not a regular file");
}

const SYMBOLS = {
  openat2: {
    name: "syscall",
    parameters: ["i64", "i32", "buffer", "buffer", "usize"],
    result: "i64",
  },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

type Library = Deno.StaticForeignLibraryInterface<typeof SYMBOLS>;

const SYS_OPENAT2 = 437n;
const AT_FDCWD = -100;
const O_NOCTTY_NONBLOCK_CLOEXEC = 0o2004400;
const [RESOLVE_NO_MAGICLINKS, RESOLVE_BENEATH] = [2, 8];
const [EPERM, ENOSYS] = [1, 38];

function openByCall(path: string, as: OtherUser | undefined): OpenFile {
  const c = openLibc(SYMBOLS);
  const opened = () => descriptor(c, path, as);
  const fd = as === undefined ? opened() : actingAs(as, opened);
  const file: OpenFile = {
    read(into) {
      const count = Number(c.read(fd, into, BigInt(into.length)));
      if (count < 0) throw failure(errno());
      return count;
    },
    [Symbol.dispose]: () => void c.close(fd),
  };
  try {
    refuseOther(`/proc/self/fd/${fd}`);
    return file;
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}

function descriptor(c: Library, path: string, as: OtherUser | undefined): number {
  const fd = openAt(c, AT_FDCWD, path, RESOLVE_NO_MAGICLINKS);
  if (fd >= 0) return fd;
  const problem = errno();
  // Linux before 5.6, or a container that does not know the call.
  if (problem === ENOSYS || problem === EPERM) return withoutLinks(c, path, as);
  throw failure(problem, as);
}

function openAt(c: Library, folder: number, path: string, resolve: number): number {
  const name = new TextEncoder().encode(`${path}\0`);
  const how = new BigUint64Array([O_NOCTTY_NONBLOCK_CLOEXEC, 0, resolve].map(BigInt));
  const bytes = new Uint8Array(how.buffer);
  return Number(c.openat2(SYS_OPENAT2, folder, name, bytes, BigInt(bytes.length)));
}

/**
 * Opens a file or folder in `folder`, a path without links. Links that lead out of the folder are
 * not followed, even if they are created during the call. The returned path stays the opened file
 * until it is disposed of. Throws as `readForeignFile()`.
 */
export function openBeneath(folder: string, path: string): Disposable & { readonly path: string } {
  if (path.includes("\0")) throw new Deno.errors.NotFound("its path holds a NUL");
  if (isLinux && mayCallC()) {
    const c = openLibc(SYMBOLS);
    const root = descriptor(c, folder, undefined);
    const fd = openAt(c, root, path || ".", RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
    const problem = errno();
    c.close(root);
    if (fd >= 0) {
      return { path: `/proc/self/fd/${fd}`, [Symbol.dispose]: () => void c.close(fd) };
    }
    if (problem !== ENOSYS && problem !== EPERM) throw failure(problem);
  }
  const real = Deno.realPathSync(`${folder}/${path}`);
  if (!`${real}/`.startsWith(folder.replace(/\/*$/, "/"))) {
    throw new Deno.errors.NotFound(OUTSIDE);
  }
  return { path: real, [Symbol.dispose]() {} };
}

const OUTSIDE = "it is outside of the folder";

/** Opens without `openat2`, which could tell links apart: no link is followed for another user. */
function withoutLinks(c: Library, path: string, as: OtherUser | undefined): number {
  const fd = c.open(new TextEncoder().encode(`${path}\0`), O_NOCTTY_NONBLOCK_CLOEXEC);
  if (fd < 0) throw failure(errno(), as);
  const plain = path.replace(/\/(\.?\/)+/g, "/");
  if (as === undefined || Deno.readLinkSync(`/proc/self/fd/${fd}`) === plain) return fd;
  c.close(fd);
  throw new Error('a link or ".." is on the way to it, which takes Linux 5.6 to follow');
}

function failure(errno: number, as?: OtherUser): Error {
  switch (errno) {
    case 2:
      return new Deno.errors.NotFound("No such file or directory");
    case 13:
      return new Deno.errors.PermissionDenied(
        as === undefined ? "Permission denied" : `user ${as.name ?? as.uid} may not read it`,
      );
    case 18:
      return new Deno.errors.NotFound(OUTSIDE);
    case 20:
      return new Deno.errors.NotADirectory("Not a directory");
    case 36:
      return new Deno.errors.NotFound("its name is too long");
    case 40:
      return new Deno.errors.FilesystemLoop("its links lead in a circle, or through /proc");
    default:
      return new Error(`the system refuses to read it (error ${errno})`);
  }
}

const RIGHTS = {
  setgroups: { name: "syscall", parameters: ["i64", "usize", "buffer"], result: "i64" },
  getgroups: { parameters: ["i32", "buffer"], result: "i32" },
  getgrouplist: { parameters: ["buffer", "u32", "buffer", "buffer"], result: "i32" },
  setfsuid: { parameters: ["u32"], result: "i32" },
  setfsgid: { parameters: ["u32"], result: "i32" },
  prctl: { parameters: ["i32", "u64"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

type RightsLibrary = Deno.StaticForeignLibraryInterface<typeof RIGHTS>;
type Ids = Uint32Array<ArrayBuffer>;

const SYS_SETGROUPS = Deno.build.arch === "x86_64" ? 116n : 159n;
const PR_GET_DUMPABLE = 3;
const PR_SET_DUMPABLE = 4;
const PR_GET_SECUREBITS = 27;
/** Securebit with which root keeps its rights to all files after a change of user. */
const NO_SETUID_FIXUP = 4;

const MAX_GROUPS = 65_536;

/**
 * Runs `act`, which must be synchronous, with a user's rights on files, then restores root's. Throws
 * when the rights cannot be changed.
 *
 * Linux keeps these rights per thread. The system calls change them on the calling thread only,
 * which is that of the event loop; the C library's `setgroups()` would change all threads.
 */
export function actingAs<T>(user: OtherUser, act: () => T): T {
  const c = openLibc(RIGHTS);
  const [uid, gid] = [Deno.uid()!, Deno.gid()!];
  const groups = ownGroups(c);
  const theirs = user.name === undefined ? new Uint32Array() : groupsOf(c, user.name, user.gid);
  const dumpable = c.prctl(PR_GET_DUMPABLE, 0n);
  try {
    if (!take(c, user, theirs)) {
      throw new Error(`not permitted to act as user ${user.uid}`);
    }
    return act();
  } finally {
    take(c, { uid, gid }, groups);
    // The kernel clears it. Without it, root's other programs cannot inspect us in a container.
    c.prctl(PR_SET_DUMPABLE, BigInt(dumpable));
  }
}

/** False when not every change took effect. */
function take(c: RightsLibrary, { uid, gid }: OtherUser, groups: Ids): boolean {
  const set = c.setgroups(SYS_SETGROUPS, BigInt(groups.length), new Uint8Array(groups.buffer));
  c.setfsgid(gid);
  c.setfsuid(uid);
  // These calls report no failure. They return the previous id.
  return set === 0n && c.setfsgid(gid) === gid && c.setfsuid(uid) === uid &&
    (c.prctl(PR_GET_SECUREBITS, 0n) & NO_SETUID_FIXUP) === 0;
}

function ownGroups(c: RightsLibrary): Ids {
  const groups = new Uint32Array(c.getgroups(0, null));
  c.getgroups(groups.length, new Uint8Array(groups.buffer));
  return groups;
}

/** The groups that `setpriv --init-groups` would set. */
function groupsOf(c: RightsLibrary, name: string, gid: number): Ids {
  const count = new Int32Array([MAX_GROUPS]);
  const groups = new Uint32Array(MAX_GROUPS);
  const text = new TextEncoder().encode(`${name}\0`);
  const [into, length] = [new Uint8Array(groups.buffer), new Uint8Array(count.buffer)];
  if (c.getgrouplist(text, gid, into, length) < 0) throw new Error(`"${name}" has too many groups`);
  return groups.slice(0, count[0]);
}
