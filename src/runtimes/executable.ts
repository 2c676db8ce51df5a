/** Files that can be run, and where they are. */

import { resolve } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";

/** A regular file with an x bit. Root needs one too. */
export function isExecutable(info: Deno.FileInfo | undefined): boolean {
  return info !== undefined && info.isFile && (info.mode! & 0o111) !== 0;
}

/**
 * The absolute path of a program, or undefined when there is none: a bare word is looked up on
 * `path`, whose relative entries count from `cwd`; anything with a `/` is a path seen from `cwd`.
 */
export function findExecutable(command: string, cwd: string, path: string): string | undefined {
  if (command === "") return undefined;
  const candidates = command.includes("/")
    ? [command]
    // As for execvp: an empty entry is the working directory.
    : path.split(":").map((folder) => `${folder || "."}/${command}`);
  for (const candidate of candidates) {
    const file = resolve(cwd, candidate);
    if (isExecutable(lookAt(file))) return file;
  }
  return undefined;
}
