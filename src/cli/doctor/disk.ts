/** Whether there is room for logs and records. */

import { dirname } from "../../npm/path.js";
import { diskOf, type DiskSpace } from "../../platform/disk.ts";
import { pathsIn } from "../../platform/paths.ts";
import { humanBytes } from "../human.ts";
import { shellWord } from "../../model/shell_line.ts";
import { type Finding, listed, ok, warning, wrong } from "./finding.ts";

/** With less than that, the next rotation or save may fail; and a busy app is there within the hour. */
const FULL = 50e6;
const NEARLY_FULL = 500e6;

/** The file system of a home. */
export async function checkDisk(home: string): Promise<Finding[]> {
  const space = await diskOf(existing(home));
  return space.total === 0 ? [] : [judgeSpace(space, largestLogs(home))];
}

/** What to make of the room that is left. */
export function judgeSpace(
  { available }: DiskSpace,
  largest?: { name: string; bytes: number },
): Finding {
  const left = `${humanBytes(available)} are left`;
  if (available >= NEARLY_FULL) return ok("disk", left);
  const logs = largest === undefined
    ? ""
    : `; the logs of ${largest.name} take ${humanBytes(largest.bytes)}`;
  const fix = largest === undefined ? undefined : `procsup flush ${shellWord(largest.name)}`;
  return available < FULL
    ? wrong("disk", `only ${left}${logs}`, fix)
    : warning("disk", `${left}${logs}`, fix);
}

function largestLogs(home: string): { name: string; bytes: number } | undefined {
  const { apps } = pathsIn(home);
  return listed(apps)
    .map((name) => ({ name, bytes: bytesIn(`${apps}/${name}`) }))
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes)[0];
}

/** What a folder and those in it take on the disk. */
export function bytesIn(folder: string): number {
  return listed(folder).reduce((sum, name) => {
    try {
      const { isDirectory, blocks, size } = Deno.lstatSync(`${folder}/${name}`);
      const own = blocks === null ? size : blocks * 512;
      return sum + own + (isDirectory ? bytesIn(`${folder}/${name}`) : 0);
    } catch {
      return sum;
    }
  }, 0);
}

function existing(path: string): string {
  try {
    Deno.statSync(path);
    return path;
  } catch {
    return path === "/" ? path : existing(dirname(path));
  }
}
