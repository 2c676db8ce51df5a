/** A failure as a person reads it: what went wrong, then one thing to do next. */

import { ERROR_TABLE, messageOf, ProcsupError } from "../model/errors.ts";
import { writeMessage } from "./output.ts";

/** Prints a failure to stderr and returns the exit code it stands for. */
export function reportError(error: unknown): number {
  writeMessage(errorText(error));
  return error instanceof ProcsupError ? ERROR_TABLE[error.code].exit : 1;
}

/** `error: <what>` and, where there is one, `  hint: <what next>`. */
export function errorText(error: unknown): string {
  const message = messageOf(error).replace(/^[a-z]/, (letter) => letter.toUpperCase());
  const hint = error instanceof ProcsupError ? error.hint : undefined;
  return `error: ${message}\n${hint === undefined ? "" : `  hint: ${hint}\n`}`;
}
