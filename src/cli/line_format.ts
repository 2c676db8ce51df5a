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
