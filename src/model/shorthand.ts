/** Shorter forms of a configuration's keys, and what they stand for. */

import { commandOf } from "./shell_line.ts";

type Keyed = Readonly<Record<string, unknown>>;

/** Keys that say what runs: `command` replaces all of them. */
const PROGRAM_KEYS = ["entrypoint", "script", "binary", "args"];

/** What is wrong with `command`; undefined when it is fine or missing. */
export function commandProblem({ command, ...keys }: Keyed): string | undefined {
  if (command === undefined) return undefined;
  const beside = PROGRAM_KEYS.find((key) => keys[key] != null);
  if (beside !== undefined) return `give it or "${beside}", not both`;
  if (command === null || (typeof command === "string" && command.trim() !== "")) return undefined;
  return 'expected a command line, such as "node app.js --port 80"';
}

/** The keys of a configuration that stay under a patch: its `command` replaces what ran before. */
export function keptUnder(patch: Keyed, keys: Keyed): Keyed {
  if (patch.command == null) return keys;
  return Object.fromEntries(Object.entries(keys).filter(([key]) => !PROGRAM_KEYS.includes(key)));
}

/**
 * `command` as entrypoint and arguments, `instances: max` as a number, an empty runtime as `auto`.
 * What has the wrong type, or is given twice, is left for the check to refuse.
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
