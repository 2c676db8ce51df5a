/** Formats of what comes line by line. */

import { ProcsupError } from "../model/errors.ts";
import type { Output } from "./output.ts";

/** Throws `bad_request` for a format that has no lines: printing text instead would surprise. */
export function refuseWholeFormats({ format }: Output, command: string): void {
  if (format !== "yaml" && format !== "name") return;
  throw new ProcsupError("bad_request", `Cannot print ${command} with -o ${format}`, {
    hint: `procsup ${command} -o jsonl`,
  });
}

/**
 * What prints JSON, one value a line: as a list under `-o json`, unless it goes on until Ctrl-C. `end`
 * closes the list.
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
