/**
 * Opens files with the rights of another user, as root on Linux.
 *
 * Linux keeps these rights per thread. The system calls change them on the calling thread only,
 * which is that of the event loop; the C library's `setgroups()` would change all threads.
 */

import type { OtherUser } from "./as_user.ts";
import { openLibc } from "./libc.ts";

const SYMBOLS = {
  setgroups: { name: "syscall", parameters: ["i64", "usize", "buffer"], result: "i64" },
  getgroups: { parameters: ["i32", "buffer"], result: "i32" },
  getgrouplist: { parameters: ["buffer", "u32", "buffer", "buffer"], result: "i32" },
  setfsuid: { parameters: ["u32"], result: "i32" },
  setfsgid: { parameters: ["u32"], result: "i32" },
  prctl: { parameters: ["i32", "u64"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

type Library = Deno.StaticForeignLibraryInterface<typeof SYMBOLS>;
type Ids = Uint32Array<ArrayBuffer>;

const SYS_SETGROUPS = Deno.build.arch === "x86_64" ? 116n : 159n;
const PR_GET_DUMPABLE = 3;
const PR_SET_DUMPABLE = 4;
const PR_GET_SECUREBITS = 27;
/** Securebit with which root keeps its rights to all files after a change of user. */
const NO_SETUID_FIXUP = 4;

const MAX_GROUPS = 65_536;

/**
 * Runs `act`, which must be synchronous, with a user's rights on files, then restores root's.
 * Throws when the rights cannot be changed.
 */
export function actingAs<T>(user: OtherUser, act: () => T): T {
  const c = openLibc(SYMBOLS);
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
function take(c: Library, { uid, gid }: OtherUser, groups: Ids): boolean {
  const set = c.setgroups(SYS_SETGROUPS, BigInt(groups.length), new Uint8Array(groups.buffer));
  c.setfsgid(gid);
  c.setfsuid(uid);
  // These calls report no failure. They return the previous id.
  return set === 0n && c.setfsgid(gid) === gid && c.setfsuid(uid) === uid &&
    (c.prctl(PR_GET_SECUREBITS, 0n) & NO_SETUID_FIXUP) === 0;
}

function ownGroups(c: Library): Ids {
  const groups = new Uint32Array(c.getgroups(0, null));
  c.getgroups(groups.length, new Uint8Array(groups.buffer));
  return groups;
}

/** The groups that `setpriv --init-groups` would set. */
function groupsOf(c: Library, name: string, gid: number): Ids {
  const count = new Int32Array([MAX_GROUPS]);
  const groups = new Uint32Array(MAX_GROUPS);
  const text = new TextEncoder().encode(`${name}\0`);
  const [into, length] = [new Uint8Array(groups.buffer), new Uint8Array(count.buffer)];
  if (c.getgrouplist(text, gid, into, length) < 0) throw new Error(`"${name}" has too many groups`);
  return groups.slice(0, count[0]);
}
