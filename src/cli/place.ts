/** The folder, CPUs and files that the flags of a new app refer to, here or on `--host`. */

import { resolve } from "../npm/path.js";
import { here } from "../platform/paths.ts";
import { lookAt } from "../platform/stat.ts";
import type { CommandContext } from "./command.ts";
import type { ConfigFlags } from "./config_flags.ts";

/** The flags and the machine and folder that they refer to. */
export interface Place extends ConfigFlags {
  /** True if an absolute path is a file there. */
  readonly isFile: (path: string) => boolean;
}

/** The place of a command. On another machine, only paths that the words may name are looked up. */
export async function placeOf({ flags, host, positionals }: CommandContext): Promise<Place> {
  const variable = (name: string) => Deno.env.get(name);
  if (host === undefined) {
    const isFile = (path: string) => lookAt(path)?.isFile === true;
    return { flags, cwd: here(), cpus: navigator.hardwareConcurrency, variable, isFile };
  }
  const { cwd, cpus } = await host.hello();
  const folders = [cwd, resolve(cwd, flags.text("cwd") ?? ".")];
  const paths = positionals.flatMap((word) => folders.map((folder) => resolve(folder, word)));
  const { LOOK_PATH } = await import("../contexts/ssh.ts");
  const files = new Set(paths.length === 0 ? [] : await host.ask<string[]>(LOOK_PATH, paths));
  return { flags, cwd, cpus, variable, isFile: (path) => files.has(path) };
}
