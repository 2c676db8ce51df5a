/** Whether other users could exchange a folder on the way to a path. */

import { isAbsolute, join } from "../npm/path.js";
import { lstatIfAny } from "./stat.ts";

/** More links than this are a circle. */
const MAX_LINKS = 40;

/**
 * What is wrong with the way to an absolute path, as words that go on a sentence; undefined when only
 * root and we ourselves could change where it leads. What is not there yet is not looked at, nor is
 * who may write to the last folder.
 */
export function wayProblem(path: string): string | undefined {
  // The first process of a container that is not root's has no other users beside it. There everyone
  // may write to the volumes that an orchestrator mounts.
  if (Deno.pid === 1 && Deno.uid() !== 0) return undefined;
  const root = Deno.lstatSync("/");
  // In a container all that belongs to users outside of it, root included, is shown as one user's.
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
 * The same for a folder in which files are made by names that others could know, so that nobody else
 * may make files in it, be it sticky.
 */
export function folderProblem(folder: string): string | undefined {
  const problem = wayProblem(folder);
  if (problem !== undefined || (Deno.pid === 1 && Deno.uid() !== 0)) return problem;
  const others = othersMayWrite(Deno.statSync(folder));
  return others ? `others may write to "${folder}"` : undefined;
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

/** Whether others could exchange what is in a folder. In a sticky one they leave alone what is not theirs. */
function isOpen(info: Deno.FileInfo): boolean {
  return (info.mode! & 0o1000) === 0 && othersMayWrite(info);
}

function othersMayWrite({ mode, gid }: Deno.FileInfo): boolean {
  // The group of root, and a user's private one, which has the user's number, have no others in them.
  const isOwnGroup = gid === 0 || (gid === Deno.uid() && gid === Deno.gid());
  return (mode! & (isOwnGroup ? 0o002 : 0o022)) !== 0;
}
