/** Prints failures for people: what went wrong, then what to do next. */

import { ERROR_TABLE, isErrorCode, messageOf, ProcsupError } from "../model/errors.ts";
import { type Output, writeMessage } from "./output.ts";

/** The first failure that was reported. */
let reported: unknown;

/** Prints a failure to stderr and returns its exit code. Rethrows `BrokenPipe`. */
export function reportError(error: unknown, text = errorText(error)): number {
  if (error instanceof Deno.errors.BrokenPipe) throw error;
  reported ??= error;
  writeMessage(text);
  return exitCodeOf(error instanceof ProcsupError ? error.code : undefined);
}

/** The exit code of an error code; that of `internal` if the code is unknown. */
export function exitCodeOf(code: string | undefined): number {
  return ERROR_TABLE[isErrorCode(code) ? code : "internal"].exit;
}

/** Prints the first failure to stdout if the format is for programs and stdout is still empty. */
export async function printFailure(output: Output): Promise<void> {
  if (reported === undefined || output.isUsed) return;
  const [{ printData }, { errorJson }] = await Promise.all([
    import("./print_data.ts"),
    import("../protocol/error_json.ts"),
  ]);
  await printData(output, errorJson(reported));
}

/**
 * The lines `error: …`, `hint: …` (if any) and `more: …` with a help page. For a mistake in the
 * command line, that is the page of its command.
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
