/** A failure as a person reads it: what went wrong, then one thing to do next. */

import { ERROR_TABLE, isErrorCode, messageOf, ProcsupError } from "../model/errors.ts";
import { type Output, writeMessage } from "./output.ts";

/** The first failure that was reported. */
let reported: unknown;

/**
 * Prints a failure to stderr and returns the exit code it stands for. Throws again that the reader of
 * an output went away.
 */
export function reportError(error: unknown, text = errorText(error)): number {
  if (error instanceof Deno.errors.BrokenPipe) throw error;
  reported ??= error;
  writeMessage(text);
  return exitCodeOf(error instanceof ProcsupError ? error.code : undefined);
}

/** The exit code of a failure; of one without a known code that of `internal`. */
export function exitCodeOf(code: string | undefined): number {
  return ERROR_TABLE[isErrorCode(code) ? code : "internal"].exit;
}

/** Prints the first failure to stdout where that is for programs and has nothing yet. */
export async function printFailure(output: Output): Promise<void> {
  if (reported === undefined || output.isUsed) return;
  const [{ printData }, { errorJson }] = await Promise.all([
    import("./print_data.ts"),
    import("../protocol/error_json.ts"),
  ]);
  await printData(output, errorJson(reported));
}

/**
 * `error: <what>`, `  hint: <what next>` if there is one, and the page about it: of a command line that
 * is wrong, that of its command.
 */
export function errorText(error: unknown, command?: string): string {
  const message = messageOf(error).replace(/^[a-z]/, (letter) => letter.toUpperCase());
  if (!(error instanceof ProcsupError)) return `error: ${message}\n`;
  const { hint, code } = error;
  const page = code === "bad_request" && command ? command : ERROR_TABLE[code].page;
  const lines = [
    `error: ${message}`,
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
    ...(hint?.includes("procsup help") ? [] : [`  more: procsup help ${page}`]),
  ];
  return `${lines.join("\n")}\n`;
}
