/** Expands short forms of a configuration's keys. */

import type { Keyed } from "./merge_patch.ts";
import { commandOf } from "./shell_line.ts";

/** Keys of the program; `command` replaces all of them. */
const PROGRAM_KEYS = ["entrypoint", "script", "binary", "args"];

/** Keys of the runtime. A command line names its own program. */
const RUNTIME_KEYS = ["runtime", "interpreter", "use_bundle"];

/** What is wrong with `command`; undefined if it is valid or missing. */
export function commandProblem({ command, ...keys }: Keyed): string | undefined {
  if (command === undefined) return undefined;
  const beside = PROGRAM_KEYS.find((key) => keys[key] != null);
  if (beside !== undefined) return `give either "command" or "${beside}", not both`;
  if (command === null || (typeof command === "string" && command.trim() !== "")) return undefined;
  return 'expected a command line, such as "node app.js --port 80"';
}

/** The keys that a patch keeps: its `command` replaces the keys of program and runtime. */
export function keptUnder(patch: Keyed, keys: Keyed): Keyed {
  if (patch.command == null) return keys;
  const replaced = [...PROGRAM_KEYS, ...RUNTIME_KEYS];
  return Object.fromEntries(Object.entries(keys).filter(([key]) => !replaced.includes(key)));
}

/**
 * Expands `command` to entrypoint and arguments, `instances: max` to a number and an empty runtime
 * to `auto`. Leaves values of the wrong type, and keys given twice, for the schema to refuse.
 */
export function expanded(given: Keyed): Keyed {
  const keys: Record<string, unknown> = { ...given };
  const { command, instances, runtime } = keys;
  if (runtime === "") keys.runtime = "auto";
  if (instances === "max") keys.instances = navigator.hardwareConcurrency;
  if (typeof command !== "string" || commandProblem(keys) !== undefined) return keys;
  delete keys.command;
  return { ...keys, ...commandOf(command) };
}
