/**
 * Prints failures for people: what went wrong, then what to do next. Mistakes in configuration files
 * are printed with their place and the line.
 */

import { ConfigProblem, ConfigProblems } from "../config/problem.ts";
import {
  ERROR_TABLE,
  type ErrorCode,
  isErrorCode,
  messageOf,
  ProcsupError,
} from "../model/errors.ts";
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

/** The codes of mistakes that a command explains best. Their own pages are about apps. */
const OF_COMMAND: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...["bad_request", "not_found", "wrong_state", "name_taken"] as const,
]);

/** The lines `error: …`, `hint: …` (if any) and `more: …` with a help page. */
export function errorText(error: unknown, command?: string): string {
  const message = messageOf(error).replace(/^[a-z]/, (letter) => letter.toUpperCase());
  if (!(error instanceof ProcsupError)) return `error: ${message}\n`;
  const { hint, code } = error;
  const page = OF_COMMAND.has(code) && command ? command : ERROR_TABLE[code].page;
  const lines = [
    `error: ${message}`,
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
    ...(hint?.includes("procsup help") ? [] : [`  more: procsup help ${page}`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** Prints every mistake to stderr and returns the exit code. Other errors are reported as usual. */
export function reportProblems(error: unknown, cwd: string): number {
  const isOne = error instanceof ConfigProblem;
  if (!isOne && !(error instanceof ConfigProblems)) return reportError(error);
  const problems = isOne ? [error] : error.problems;
  const text = problems.map((problem) => {
    const hint = problem.hint === undefined ? "" : `  hint: ${problem.hint}\n`;
    return `error: ${problemText(problem, cwd)}\n${hint}`;
  }).join("");
  return reportError(
    problems.length === 1 ? problems[0] : error,
    `${text}  more: procsup help configuration\n`,
  );
}

/** A mistake, its line (without secrets) and a mark below it. */
export function problemText(problem: ProcsupError, cwd: string): string {
  if (!(problem instanceof ConfigProblem)) return problem.message;
  const { place, what, advice } = problem;
  if (place?.excerpt === undefined) return problem.message.replace(`${cwd}/`, "");
  const { text, from, length } = place.excerpt;
  const number = String(place.line).padStart(5);
  const mark = " ".repeat(from) + "^".repeat(length);
  return [
    `${place.file.replace(`${cwd}/`, "")}:${place.line}:${place.column} ${what}`,
    `${number} | ${text}`,
    `${" ".repeat(number.length)} | ${mark}${advice === undefined ? "" : ` ${advice}`}`,
  ].join("\n");
}
