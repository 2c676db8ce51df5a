/** Finds the programs that run scripts, on the app's own PATH. */

import { refuseStart } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { resolve } from "../npm/path.js";
import type { OtherUser } from "../platform/as_user.ts";
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

export class Tools {
  readonly #name: string;
  readonly cwd: string;
  readonly path: string;
  /** Programs are run as this user to find out their version. */
  readonly user: OtherUser | undefined;

  constructor(config: Pick<ProcessConfig, "name" | "cwd">, path: string, user?: OtherUser) {
    this.#name = config.name;
    this.cwd = config.cwd;
    this.path = path;
    this.user = user;
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
      hint: "Install tsx (npm i -D tsx) or Node.js 22.18 or later, or set runtime to deno",
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
