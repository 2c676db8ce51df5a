/** Prints data for programs, in the same way for every command. */

import type { Output } from "./output.ts";

/** Prints what was done: data for programs, or a line for people. */
export async function printDone(
  output: Output,
  value: unknown,
  line: string,
  names: readonly string[] = [],
): Promise<void> {
  if (!await printData(output, value, names)) output.done(`✔ ${line}`);
}

/**
 * Prints `value` if the format is for programs, or `names` for `-o name`. Returns false for other
 * formats: the command then prints its own text.
 */
export async function printData(
  output: Output,
  value: unknown,
  names: readonly string[] = [],
): Promise<boolean> {
  switch (output.format) {
    case "json":
      output.json(value, 2);
      return true;
    case "jsonl":
      for (const item of Array.isArray(value) ? value : [value]) output.json(item);
      return true;
    case "yaml":
      output.data((await import("../model/yaml.ts")).yaml(value));
      return true;
    case "name":
      for (const name of names) output.data(name);
      return true;
    case "table":
    case "wide":
      return false;
  }
}
