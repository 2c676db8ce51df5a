/** `procsup completion`: the script that teaches a shell. */

import type { CommandContext } from "../command.ts";
import { COMPLETION_SCRIPTS } from "../completion/scripts.ts";
import { ProcsupError } from "../../model/errors.ts";

/** Prints the script of a shell. */
export function run({ positionals: [shell = ""], output }: CommandContext): void {
  const script = Object.hasOwn(COMPLETION_SCRIPTS, shell) ? COMPLETION_SCRIPTS[shell] : undefined;
  if (script !== undefined) return output.data(script);
  throw new ProcsupError("bad_request", `No completion for "${shell}"`, {
    hint: `One of: ${Object.keys(COMPLETION_SCRIPTS).join(", ")}`,
  });
}
