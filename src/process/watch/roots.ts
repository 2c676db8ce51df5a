/** Resolves the watched paths of a configuration. */

import { resolve } from "../../npm/path.js";
import { watchFailure } from "../../platform/watch_paths.ts";
import type { WatchRoot } from "./tree.ts";

/** The resolved paths, and why others cannot be watched. */
interface Roots {
  /** The working directory, links resolved. */
  readonly base: string;
  readonly roots: readonly WatchRoot[];
  readonly problems: readonly string[];
}

/** The watched paths, links resolved: the system reports changes in this form. */
export async function resolveRoots(cwd: string, paths: readonly string[]): Promise<Roots> {
  const roots: WatchRoot[] = [];
  const problems: string[] = [];
  for (const path of paths.length === 0 ? [cwd] : paths) {
    try {
      const real = await Deno.realPath(resolve(cwd, path));
      roots.push({ path: real, isFile: !(await Deno.stat(real)).isDirectory });
    } catch (error) {
      problems.push(`cannot watch "${path}": ${watchFailure(error)}`);
    }
  }
  const base = await Deno.realPath(cwd).catch(() => cwd);
  return { base, roots, problems };
}
