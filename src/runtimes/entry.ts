/** What an entrypoint names: a file, a folder, or a command on PATH. */

import type { ProcessConfig } from "../model/process_config.ts";
import { extname, isAbsolute, resolve } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";
import { findExecutable, isExecutable } from "./executable.ts";
import { refuseEntrypoint } from "./refusal.ts";

/** The part of a configuration that makes the command line. */
export type CommandConfig = Pick<
  ProcessConfig,
  "name" | "entrypoint" | "runtime" | "interpreter" | "useBundle" | "args" | "cwd" | "env"
>;

/** An entrypoint that exists. */
export interface Entry {
  /** Absolute. */
  readonly path: string;
  /** Of the file name, in lower case and without the dot; `""` when it has none. */
  readonly extension: string;
  readonly isFolder: boolean;
  /** A regular file with an x bit. */
  readonly isExecutable: boolean;
  /** A bare word that was found on PATH: it is run as it is, by whatever its first line says. */
  readonly isCommand: boolean;
}

/** The extension of a path's last part, in lower case and without the dot. */
export function extensionOf(path: string): string {
  return extname(path).slice(1).toLowerCase();
}

/** Whether an entrypoint is one word that may name a command. */
export function isBareWord(entrypoint: string): boolean {
  return !entrypoint.includes("/") && entrypoint !== "." && entrypoint !== "..";
}

/**
 * Finds the entrypoint. A bare word is a file of the working directory if `isScript` accepts its
 * extension or it is executable, else a command on `path`.
 * Throws `ProcsupError` `invalid_config` when it names nothing.
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
      ? `A program and its arguments: command: ${
        JSON.stringify(entrypoint)
      }, in place of entrypoint`
      : undefined;
    return refuseEntrypoint(config.name, what, missing(what, config), hint);
  }
  if (!info.isFile && !info.isDirectory) {
    return refuseEntrypoint(config.name, file, "is neither file nor folder");
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
  return isOutOfReach(what) ? "is in a folder that we may not enter" : "does not exist";
}

function isOutOfReach(path: string): boolean {
  try {
    Deno.statSync(path);
    return false;
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied;
  }
}
