/** Checks that no other user can replace a folder above a path. */

import { dirname, isAbsolute, join } from "../npm/path.js";
import { lstatIfAny } from "./stat.ts";

/** More links than this count as a circle. */
const MAX_LINKS = 40;

/**
 * Why the folders above an absolute path are not safe, as a clause; undefined if only root and our
 * own user can change where it leads. Ignores missing folders, and who may write to the last one.
 */
export function wayProblem(path: string): string | undefined {
  if (isAlone()) return undefined;
  const root = Deno.lstatSync("/");
  // In a container all outside users, root included, appear as one user.
  const trusted = [0, Deno.uid(), root.uid];
  let folder = { path: "/", info: root };
  let rest = partsOf(path);
  for (let links = 0, name; (name = rest.shift()) !== undefined;) {
    if (isOpen(folder.info)) return `others may write to "${folder.path}"`;
    const next = join(folder.path, name);
    const info = next === "/" ? root : lstatIfAny(next);
    if (info === undefined) return undefined;
    if (!trusted.includes(info.uid)) return `"${next}" belongs to user ${info.uid}`;
    if (!info.isSymlink) {
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
    return othersMayWrite(Deno.statSync(folder)) ? `others may write to "${folder}"` : undefined;
  } catch (error) {
    return (error as Error).message;
  }
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
function isOpen(info: Deno.FileInfo): boolean {
  return (info.mode! & 0o1000) === 0 && othersMayWrite(info);
}

function othersMayWrite({ mode, gid }: Deno.FileInfo): boolean {
  // No others are in root's group, or in a user's private group, which has the user's number.
  const isOwnGroup = gid === 0 || (gid === Deno.uid() && gid === Deno.gid());
  return (mode! & (isOwnGroup ? 0o002 : 0o022)) !== 0;
}
