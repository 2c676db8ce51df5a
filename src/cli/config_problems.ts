/** Prints mistakes in configuration files with their place, the line and advice. */

import type { ProcsupError } from "../model/errors.ts";
import { ConfigProblem, ConfigProblems } from "../config/problem.ts";
import { reportError } from "./report_error.ts";

/** Prints every mistake to stderr and returns the exit code. Other errors are reported as usual. */
export function reportProblems(error: unknown, cwd: string): number {
  if (error instanceof ConfigProblems) return printProblems(error.problems, cwd);
  if (error instanceof ConfigProblem) return printProblems([error], cwd);
  return reportError(error);
}

function printProblems(problems: readonly ProcsupError[], cwd: string): number {
  const text = problems.map((problem) => {
    const hint = problem.hint === undefined ? "" : `  hint: ${problem.hint}\n`;
    return `error: ${problemText(problem, cwd)}\n${hint}`;
  }).join("");
  const error = problems.length === 1 ? problems[0] : new ConfigProblems(problems);
  return reportError(error, `${text}  more: procsup help configuration\n`);
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
