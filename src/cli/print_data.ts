/** Prints data for programs, in the same way for every command: as a whole, or line by line. */

import { ProcsupError } from "../model/errors.ts";
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

/** Throws `bad_request` for formats that cannot be printed line by line. */
export function refuseWholeFormats({ format }: Output, command: string): void {
  if (format !== "yaml" && format !== "name") return;
  throw new ProcsupError("bad_request", `Cannot print ${command} with -o ${format}`, {
    hint: `procsup ${command} -o jsonl`,
  });
}

/**
 * Prints JSON values, one a line. With `-o json` they form a list, which `end` closes, unless the
 * output is endless.
 */
export function jsonLines(
  output: Output,
  isEndless: boolean,
): { print(json: string): void; end(): void } {
  if (isEndless || output.format !== "json") {
    return { print: (json) => output.jsonText(json), end: () => {} };
  }
  let before = "[\n";
  return {
    print(json) {
      output.raw(before);
      before = ",\n";
      output.jsonText(json, "");
    },
    end: () => output.raw(before === ",\n" ? "\n]\n" : "[]\n"),
  };
}
