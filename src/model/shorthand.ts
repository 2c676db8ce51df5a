/** Shorter forms of a configuration's keys, and what they stand for. */

import { commandOf } from "./shell_line.ts";

type Keyed = Readonly<Record<string, unknown>>;

/** Keys that say what runs: `command` replaces all of them. */
const PROGRAM_KEYS = ["entrypoint", "script", "binary", "args"];

/** The key beside `command` that says the same; undefined without one. */
export function besideCommand(keys: Keyed): string | undefined {
  return keys.command === undefined ? undefined : PROGRAM_KEYS.find((key) => keys[key] != null);
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
  if (typeof command !== "string" || command.trim() === "") return keys;
  if (besideCommand(keys) !== undefined) return keys;
  delete keys.command;
  return { ...keys, ...commandOf(command) };
}
