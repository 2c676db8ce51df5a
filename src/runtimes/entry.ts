/** Resolves an entrypoint to a file, a folder, or a command on PATH. */

import { refuseStart } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { extname, isAbsolute, resolve } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";
import { findExecutable, isExecutable } from "./tools.ts";

/** The part of a configuration that determines the command line. */
export type CommandConfig = Pick<
  ProcessConfig,
  "name" | "entrypoint" | "runtime" | "interpreter" | "useBundle" | "args" | "cwd" | "env"
>;

export interface Entry {
  /** Absolute path. */
  readonly path: string;
  /** Extension in lower case without the dot; `""` if there is none. */
  readonly extension: string;
  readonly isFolder: boolean;
  /** True for a regular file with an x bit. */
  readonly isExecutable: boolean;
  /** True for a command found on PATH, which is executed directly. */
  readonly isCommand: boolean;
}

/** Throws `invalid_config` for an entrypoint: `entrypoint "/srv/api.ts" <problem>`. */
export function refuseEntrypoint(
  name: string,
  entrypoint: string,
  problem: string,
  hint?: string,
): never {
  const what = `entrypoint ${JSON.stringify(entrypoint)} ${problem}`;
  refuseStart(name, what, { hint, field: "entrypoint" });
}

/** The extension of a path, in lower case without the dot. */
export function extensionOf(path: string): string {
  return extname(path).slice(1).toLowerCase();
}

/** Whether an entrypoint may be the name of a command. */
export function isBareWord(entrypoint: string): boolean {
  return !entrypoint.includes("/") && entrypoint !== "." && entrypoint !== "..";
}

/**
 * Resolves the entrypoint. A bare word is a file in the working directory if that is executable or
 * `isScript` accepts its extension, otherwise a command on `path`. Throws `invalid_config` if nothing
 * is found.
 */
export function findEntry(
  config: CommandConfig,
  path: string,
  isScript: (extension: string) => boolean,
): Entry {
  const { cwd, entrypoint } = config;
  const file = resolve(cwd, entrypoint);
  const info = lookAt(file);
  const extension = extensionOf(file);
  const bare = isBareWord(entrypoint);
  if (bare && !isExecutable(info) && !(info?.isFile && isScript(extension))) {
    const command = findExecutable(entrypoint, cwd, path);
    if (command !== undefined) {
      const extension = extensionOf(command);
      return { path: command, extension, isFolder: false, isExecutable: true, isCommand: true };
    }
  }
  if (info === undefined) {
    const what = bare && extension === "" ? entrypoint : file;
    const hint = /\s/.test(entrypoint)
      ? `To run a program with arguments, use command: ${
        JSON.stringify(entrypoint)
      } instead of entrypoint`
      : undefined;
    return refuseEntrypoint(config.name, what, missing(what, config), hint);
  }
  if (!info.isFile && !info.isDirectory) {
    return refuseEntrypoint(config.name, file, "is neither a file nor a folder");
  }
  const executable = isExecutable(info);
  return {
    path: file,
    extension,
    isFolder: info.isDirectory,
    isExecutable: executable,
    isCommand: false,
  };
}

function missing(what: string, { cwd }: CommandConfig): string {
  if (!isAbsolute(what)) return `does not exist in ${JSON.stringify(cwd)} or on PATH`;
  return isOutOfReach(what) ? "is in a folder that cannot be entered" : "does not exist";
}

function isOutOfReach(path: string): boolean {
  try {
    Deno.statSync(path);
    return false;
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied;
  }
}
