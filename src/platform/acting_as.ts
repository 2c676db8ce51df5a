/**
 * Opening files with the rights of another user, as root on Linux.
 *
 * There each thread has these rights for itself. The system calls change them on the thread that makes
 * them alone, which is that of the event loop; the C library's own `setgroups()` would change all.
 */

import { openLibc } from "./libc.ts";

/** A user, and the group its programs begin with. With a name it has the other groups of that name. */
export interface FileUser {
  readonly uid: number;
  readonly gid: number;
  readonly name?: string;
}

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
/** With it root keeps its rights to all files, whatever the user is. */
const NO_SETUID_FIXUP = 4;

const MAX_GROUPS = 65_536;

/**
 * Does `act`, which must not wait for anything, with the rights of a user on files; as root before and
 * after it. Throws when the rights cannot be changed.
 */
export function actingAs<T>(user: FileUser, act: () => T): T {
  const c = openLibc(SYMBOLS);
  const [uid, gid] = [Deno.uid()!, Deno.gid()!];
  const groups = ownGroups(c);
  const theirs = user.name === undefined ? new Uint32Array() : groupsOf(c, user.name, user.gid);
  const dumpable = c.prctl(PR_GET_DUMPABLE, 0n);
  try {
    if (!take(c, user, theirs)) {
      throw new Error(`the system does not let us act as user ${user.uid}`);
    }
    return act();
  } finally {
    take(c, { uid, gid }, groups);
    // The kernel takes it away, and with it other programs of root may not look at us in a container.
    c.prctl(PR_SET_DUMPABLE, BigInt(dumpable));
  }
}

/** False when not all of it was done. */
function take(c: Library, { uid, gid }: FileUser, groups: Ids): boolean {
  const set = c.setgroups(SYS_SETGROUPS, BigInt(groups.length), new Uint8Array(groups.buffer));
  c.setfsgid(gid);
  c.setfsuid(uid);
  // They do not fail: they return what was in force before.
  return set === 0n && c.setfsgid(gid) === gid && c.setfsuid(uid) === uid &&
    (c.prctl(PR_GET_SECUREBITS, 0n) & NO_SETUID_FIXUP) === 0;
}

function ownGroups(c: Library): Ids {
  const groups = new Uint32Array(c.getgroups(0, null));
  c.getgroups(groups.length, new Uint8Array(groups.buffer));
  return groups;
}

/** As `setpriv --init-groups` finds them. */
function groupsOf(c: Library, name: string, gid: number): Ids {
  const count = new Int32Array([MAX_GROUPS]);
  const groups = new Uint32Array(MAX_GROUPS);
  const text = new TextEncoder().encode(`${name}\0`);
  const [into, length] = [new Uint8Array(groups.buffer), new Uint8Array(count.buffer)];
  if (c.getgrouplist(text, gid, into, length) < 0) throw new Error(`"${name}" has too many groups`);
  return groups.slice(0, count[0]);
}
