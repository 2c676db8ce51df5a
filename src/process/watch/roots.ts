/** Resolves the watched paths of a configuration. */

import { ProcsupError } from "../../model/errors.ts";
import type { ProcessConfig } from "../../model/process_config.ts";
import { resolve } from "../../npm/path.js";
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
      problems.push(`cannot watch "${path}": ${reason(error)}`);
    }
  }
  const base = await Deno.realPath(cwd).catch(() => cwd);
  return { base, roots, problems };
}

/**
 * Checks that the watched paths exist, as far as that is possible before a start. Throws
 * `invalid_config` naming the path.
 */
export function checkWatch({ watch, cwd }: Pick<ProcessConfig, "watch" | "cwd">): void {
  if (!watch?.enabled) return;
  for (const path of watch.paths) {
    try {
      Deno.statSync(resolve(cwd, path));
    } catch (error) {
      throw new ProcsupError("invalid_config", `Invalid "watch.paths" "${path}": ${reason(error)}`);
    }
  }
}

function reason(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file or directory";
  return (error as Error).message;
}
