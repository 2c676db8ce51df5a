/** Failures of a configuration that belong to no process. */

import { ERROR_TABLE } from "../model/errors.ts";
import { plainText } from "../model/plain_text.ts";
import type { ActionResult } from "../protocol/actions.ts";
import { writeMessage } from "./output.ts";

/** Prints those that no result tells, and returns the exit code of all. */
export function reportErrors(
  { errors, results }: {
    readonly errors: readonly string[];
    readonly results: readonly ActionResult[];
  },
): number {
  const told = new Set(results.map(({ error }) => error));
  for (const error of errors) {
    if (!told.has(error)) writeMessage(plainText(`error: ${error}\n`));
  }
  return errors.length === 0 ? 0 : ERROR_TABLE.start_failed.exit;
}
