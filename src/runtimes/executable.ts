/** Finds executable files. */

import { resolve } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";

/** Whether it is a regular file with an x bit, which even root needs. */
export function isExecutable(info: Deno.FileInfo | undefined): boolean {
  return info !== undefined && info.isFile && (info.mode! & 0o111) !== 0;
}

/**
 * The absolute path of a program; undefined if it does not exist. A bare word is looked up on `path`,
 * whose relative entries are resolved against `cwd`; anything with a `/` is relative to `cwd`.
 */
export function findExecutable(command: string, cwd: string, path: string): string | undefined {
  if (command === "") return undefined;
  const candidates = command.includes("/")
    ? [command]
    // As in execvp(), an empty entry means the working directory.
    : path.split(":").map((folder) => `${folder || "."}/${command}`);
  for (const candidate of candidates) {
    const file = resolve(cwd, candidate);
    if (isExecutable(lookAt(file))) return file;
  }
  return undefined;
}
