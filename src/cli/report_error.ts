/** A failure as a person reads it: what went wrong, then one thing to do next. */

import { ERROR_TABLE, messageOf, ProcsupError } from "../model/errors.ts";
import { writeMessage } from "./output.ts";

/** Prints a failure to stderr and returns the exit code it stands for. */
export function reportError(error: unknown): number {
  writeMessage(errorText(error));
  return error instanceof ProcsupError ? ERROR_TABLE[error.code].exit : 1;
}

/** `error: <what>`, `  hint: <what next>` if there is one, and the page about it. */
export function errorText(error: unknown): string {
  const message = messageOf(error).replace(/^[a-z]/, (letter) => letter.toUpperCase());
  if (!(error instanceof ProcsupError)) return `error: ${message}\n`;
  const { hint, code } = error;
  const lines = [
    `error: ${message}`,
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
    ...(hint?.includes("procsup help") ? [] : [`  more: procsup help ${ERROR_TABLE[code].page}`]),
  ];
  return `${lines.join("\n")}\n`;
}
