/** Programs that some tests need. */

import { findExecutable } from "../../src/runtimes/programs.ts";

/** Whether a program is on the search path. */
export function isInstalled(program: string): boolean {
  return findExecutable(program, "/", Deno.env.get("PATH") ?? "") !== undefined;
}
