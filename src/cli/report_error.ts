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
import { here } from "../platform/files/paths.ts";
import { plainText } from "../model/plain_text.ts";
import { type Output, printData, writeMessage } from "./output.ts";
import { type Hint, shellHint } from "../model/hint.ts";

/** The first failure that was reported. */
let reported: unknown;

/** Prints a failure of a command to stderr and returns its exit code. Rethrows `BrokenPipe`. */
export function reportError(error: unknown, command?: string): number {
  if (error instanceof Deno.errors.BrokenPipe) throw error;
  const problems = problemsOf(error);
  reported ??= problems.length === 1 ? problems[0] : error;
  writeMessage(problems.length === 0 ? errorText(error, command) : problemsText(problems, here()));
  return exitCodeOf(error instanceof ProcsupError ? error.code : undefined);
}

/** The exit code of an error code; that of `internal` if the code is unknown. */
export function exitCodeOf(code: string | undefined): number {
  return ERROR_TABLE[isErrorCode(code) ? code : "internal"].exit;
}

/** Prints the first failure to stdout if the format is for programs and stdout is still empty. */
export async function printFailure(output: Output): Promise<void> {
  if (reported === undefined || output.isUsed) return;
  const { errorJson } = await import("../protocol/envelope.ts");
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
    ...(hint === undefined ? [] : [hintLine(hint)]),
    ...(hint?.command?.verb === "help" ? [] : [`  more: procsup help ${page}`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** The line `  hint: …`, for a shell. */
export function hintLine(hint: Hint): string {
  return `  hint: ${plainText(shellHint(hint))}`;
}

function problemsOf(error: unknown): readonly ProcsupError[] {
  if (error instanceof ConfigProblems) return error.problems;
  return error instanceof ConfigProblem ? [error] : [];
}

function problemsText(problems: readonly ProcsupError[], cwd: string): string {
  const lines = problems.map((problem) => {
    const hint = problem.hint === undefined ? "" : `${hintLine(problem.hint)}\n`;
    return `error: ${problemText(problem, cwd)}\n${hint}`;
  });
  return `${lines.join("")}  more: procsup help configuration\n`;
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
