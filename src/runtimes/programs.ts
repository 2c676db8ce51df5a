/** Finds what an app runs: its entrypoint, and on its own PATH the programs that run scripts. */

import { refuseStart } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { extname, isAbsolute, resolve } from "@std/path";
import type { OtherUser } from "../platform/users/as_user.ts";
import { lookAt } from "../platform/files/stat.ts";

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

/** Whether a program is run to find out its version, or taken for a current one. */
export type Versions = "asked" | "assumed";

/** Where programs are searched, and for whom. */
export interface Search {
  /** The PATH of the app's environment. */
  readonly path: string;
  /** Set if the app runs as another user. */
  readonly user?: OtherUser | undefined;
  /** `assumed` to run nothing. */
  readonly versions?: Versions;
}

export class Tools {
  readonly #name: string;
  readonly cwd: string;
  readonly path: string;
  /** Programs are run as this user to find out their version. */
  readonly user: OtherUser | undefined;
  readonly versions: Versions;

  constructor(
    config: Pick<ProcessConfig, "name" | "cwd">,
    { path, user, versions = "asked" }: Search,
  ) {
    this.#name = config.name;
    this.cwd = config.cwd;
    this.path = path;
    this.user = user;
    this.versions = versions;
  }

  /** The absolute path of an interpreter. Throws `invalid_config` if it does not exist. */
  need(interpreter: string): string {
    return findExecutable(interpreter, this.cwd, this.path) ?? this.#refuse(interpreter);
  }

  /** The deno on PATH; otherwise our own executable, unless it is a compiled procsup. */
  deno(): string | undefined {
    const own = Deno.execPath();
    return findExecutable("deno", this.cwd, this.path) ?? (/\/deno$/.test(own) ? own : undefined);
  }

  /** Throws `invalid_config`: this Node.js cannot run TypeScript. */
  refuseTypeScript(): never {
    const problem = "this Node.js cannot run TypeScript without tsx, which is not installed";
    return refuseStart(this.#name, problem, {
      hint: "Install tsx with npm i -D tsx, or Node.js 22.18 or later, or set runtime to deno",
    });
  }

  #refuse(interpreter: string): never {
    if (!interpreter.includes("/")) {
      const problem = `interpreter ${JSON.stringify(interpreter)} was not found on PATH`;
      return refuseStart(this.#name, problem, {
        hint: "Install it, or give its full path as interpreter",
      });
    }
    const file = resolve(this.cwd, interpreter);
    const info = lookAt(file);
    const what = `interpreter ${JSON.stringify(file)}`;
    if (info === undefined) return refuseStart(this.#name, `${what} does not exist`);
    if (!info.isFile) return refuseStart(this.#name, `${what} is not a file`);
    if (!isExecutable(info)) return refuseStart(this.#name, `${what} is not executable`);
    return refuseStart(this.#name, `${what} cannot be used`);
  }
}

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
