/** Checks the watched paths of a configuration. */

import { ProcsupError } from "../../model/errors.ts";
import type { ProcessConfig } from "../../model/process_config.ts";
import { resolve } from "@std/path";

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
      const why = watchFailure(error);
      throw new ProcsupError("invalid_config", `Invalid "watch.paths" "${path}": ${why}`);
    }
  }
}

/** Why a path cannot be watched. */
function watchFailure(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file or directory";
  return (error as Error).message;
}
