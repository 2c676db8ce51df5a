/** What the flags of a command line may look at: this folder, this machine, this shell. */

import type { ConfigFlags } from "./config_flags.ts";
import type { Flags } from "./flags.ts";

/** The flags with the world they were given in. */
export function inThisShell(flags: Flags): ConfigFlags {
  return {
    flags,
    cwd: Deno.cwd(),
    cpus: navigator.hardwareConcurrency,
    variable: (name) => Deno.env.get(name),
  };
}
