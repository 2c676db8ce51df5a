/** Checks that no other user can replace a folder above a path. */

import { ifPossible } from "../../model/errors.ts";
import { dirname, isAbsolute, join } from "@std/path";
import { mayCallC, openLibc } from "../libc.ts";
import { isLinux } from "../os.ts";
import { lstatIfAny } from "./stat.ts";

/** More links than this count as a circle. */
const MAX_LINKS = 40;

/**
 * Why the folders above an absolute path are not safe, or are none, as a clause; undefined if only
 * root and our own user can change where it leads. Ignores missing folders, and who may write to the last one.
 */
export function wayProblem(path: string): string | undefined {
  if (isAlone()) return undefined;
  const root = Deno.lstatSync("/");
  // In a container all outside users, root included, appear as one user.
  const trusted = [0, Deno.uid(), root.uid];
  let folder: Folder = { path: "/", info: root };
  let rest = partsOf(path);
  for (let links = 0, name; (name = rest.shift()) !== undefined;) {
    if (isOpen(folder)) return `others may write to "${folder.path}"`;
    const next = join(folder.path, name);
    const info = next === "/" ? root : lstatIfAny(next);
    if (info === undefined) return undefined;
    if (!trusted.includes(info.uid)) return `"${next}" belongs to user ${info.uid}`;
    if (!info.isSymlink) {
      if (!info.isDirectory && rest.length > 0) return `"${next}" is not a directory`;
      folder = { path: next, info };
      continue;
    }
    const target = Deno.readLinkSync(next);
    if (++links > MAX_LINKS) return `the links at "${next}" lead in a circle`;
    if (isAbsolute(target)) folder = { path: "/", info: root };
    rest = [...partsOf(target), ...rest];
  }
  return undefined;
}

/**
 * What is wrong with the absolute path of a file that we write and rename. No other user may
 * replace the file or a folder above it, or create files beside it, even in a sticky folder;
 * logrotate has the same rule.
 */
export function sharedFileProblem(path: string): string | undefined {
  try {
    const folder = dirname(path);
    const info = lstatIfAny(path);
    if (info !== undefined && !info.isFile) return "it is not a file";
    const problem = wayProblem(path);
    if (problem !== undefined || isAlone() || lstatIfAny(folder) === undefined) return problem;
    const parent = { path: folder, info: Deno.statSync(folder) };
    return othersMayWrite(parent) ? `others may write to "${folder}"` : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Why running the program at an absolute path is not safe: another user could exchange it. As a clause;
 * undefined if only root and our own user can, or if it does not exist.
 */
export function programProblem(path: string): string | undefined {
  const problem = wayProblem(path);
  const real = ifPossible(() => Deno.realPathSync(path));
  if (problem !== undefined || real === undefined) return problem;
  return sharedFileProblem(real) ??
    (othersMayWrite({ path: real, info: Deno.statSync(real) })
      ? `others may write to "${real}"`
      : undefined);
}

/** Why a folder is not safe to search for programs: another user could put one there. */
export function searchProblem(folder: string): string | undefined {
  const real = ifPossible(() => Deno.realPathSync(folder)) ?? folder;
  return wayProblem(folder) ?? sharedFileProblem(`${real}/program`);
}

/**
 * True for the first process of a container, unless root: there are no other users beside it.
 * Everyone may write to the volumes that an orchestrator mounts.
 */
function isAlone(): boolean {
  return Deno.pid === 1 && Deno.uid() !== 0;
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

/** Whether others could replace what is in a folder. In a sticky one, only their own files. */
function isOpen(folder: Folder): boolean {
  return (folder.info.mode! & 0o1000) === 0 && othersMayWrite(folder);
}

interface Folder {
  readonly path: string;
  readonly info: Deno.FileInfo;
}

function othersMayWrite({ path, info: { mode, gid } }: Folder): boolean {
  // No others are in root's group, or in a user's private group, which has the user's number.
  const isOwnGroup = gid === 0 || (gid === Deno.uid() && gid === Deno.gid());
  if ((mode! & (isOwnGroup ? 0o002 : 0o022)) !== 0) return true;
  // With an access control list, the bits of the group are the most that anyone has whom it names.
  return (mode! & 0o020) !== 0 && isOthersByList(path);
}

const SYMBOLS = {
  getxattr: { parameters: ["buffer", "buffer", "buffer", "usize"], result: "isize" },
} as const satisfies Deno.ForeignLibraryInterface;

const LIST = "system.posix_acl_access";
/** Tags of entries with the number of a user or of a group, and the permission to write. */
const [ACL_USER, ACL_GROUP, WRITE] = [2, 8, 2];

/** Whether an access control list names another user, or a group, that may write. Linux only. */
function isOthersByList(path: string): boolean {
  if (!isLinux || !mayCallC()) return false;
  const list = new DataView(new ArrayBuffer(64 * 1024));
  const [file, name] = [path, LIST].map((text) => new TextEncoder().encode(`${text}\0`));
  const into = new Uint8Array(list.buffer);
  const length = Number(openLibc(SYMBOLS).getxattr(file!, name!, into, BigInt(into.length)));
  // A version, and then for each entry its tag, its permissions and a number.
  for (let at = 4; at < length; at += 8) {
    const [tag, permissions] = [list.getUint16(at, true), list.getUint16(at + 2, true)];
    const isOther = (tag === ACL_USER || tag === ACL_GROUP) &&
      ![0, Deno.uid()].includes(list.getUint32(at + 4, true));
    if (isOther && (permissions & WRITE) !== 0) return true;
  }
  return false;
}
