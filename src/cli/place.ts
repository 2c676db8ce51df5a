/** Where a new app is to run, as the flags see it: this folder, this machine, this shell; or those of `--host`. */

import { resolve } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";
import type { CommandContext } from "./command.ts";
import type { ConfigFlags } from "./config_flags.ts";

/** The flags with the place that they are about. */
export interface Place extends ConfigFlags {
  /** Whether an absolute path is a file there. */
  readonly isFile: (path: string) => boolean;
}

/** The place of a command. Of another machine, only the files that the words may name are known. */
export async function placeOf({ flags, host, positionals }: CommandContext): Promise<Place> {
  const variable = (name: string) => Deno.env.get(name);
  if (host === undefined) {
    const isFile = (path: string) => lookAt(path)?.isFile === true;
    return { flags, cwd: Deno.cwd(), cpus: navigator.hardwareConcurrency, variable, isFile };
  }
  const { cwd, cpus } = await host.hello();
  const folders = [cwd, resolve(cwd, flags.text("cwd") ?? ".")];
  const paths = positionals.flatMap((word) => folders.map((folder) => resolve(folder, word)));
  const { LOOK_PATH } = await import("../contexts/ssh.ts");
  const files = new Set(paths.length === 0 ? [] : await host.ask<string[]>(LOOK_PATH, paths));
  return { flags, cwd, cpus, variable, isFile: (path) => files.has(path) };
}
