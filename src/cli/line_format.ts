/** Output formats of commands that print line by line. */

import { ProcsupError } from "../model/errors.ts";
import type { Output } from "./output.ts";

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
