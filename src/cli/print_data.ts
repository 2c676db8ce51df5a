/** Data for programs: the same in every command. */

import type { Output } from "./output.ts";

/**
 * Prints `value` when the format is one for programs, `names` for `-o name`.
 * Returns whether it did; if not, the command prints its own text for people.
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
