/** The shell that runs the launch wrapper. */

import { ProcsupError } from "../model/errors.ts";
import { systemProgram } from "./as_user.ts";

/** ksh runs a subshell in its own process, so that the app would have the pid of its wrapper. */
const UNFIT = /^r?ksh/;

/** Shells to use instead. */
const OTHERS = ["dash", "bash", "mksh"];

let found: string | undefined;

/** Path of the shell, found once. Throws `start_failed` if none works. */
export function wrapperShell(): string {
  return found ??= fitShell("/bin/sh");
}

/** The shell at a path, or another one if it is not fit for the wrapper. */
export function fitShell(path: string): string {
  const name = Deno.realPathSync(path).split("/").at(-1)!;
  if (!UNFIT.test(name)) return path;
  const other = OTHERS.map(systemProgram).find((program) => program !== undefined);
  if (other !== undefined) return other;
  throw new ProcsupError("start_failed", `${path} is ${name}, which cannot launch apps`, {
    hint: `Install one of ${OTHERS.join(", ")}`,
  });
}
