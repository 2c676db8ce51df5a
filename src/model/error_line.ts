/** Finds the line of an app's output that states the error. Pure. Takes linear time. */

import {
  continuesEntry,
  jsonFields,
  lastState,
  levelOf,
  LevelReader,
  structuredLine,
} from "./log_level.ts";
import { plainText, shortened } from "./plain_text.ts";

/** How many lines are examined, not counting stack traces. */
const LINES = 40;
const MAX_LENGTH = 500;

/** Lines that launchers print after the program's own error, or that give advice. */
const AFTERWORD = new RegExp(
  [
    "npm (?:ERR!|error)|\\s*ELIFECYCLE|error Command failed|error: script |info Visit ",
    "make(?:\\[\\d+\\])?: \\*\\*\\* |exit status \\d|Node\\.js v\\d|\\(Use `node |note: run with ",
    "BEGIN failed|Require stack:|- /|goroutine \\d|Aborted|Segmentation fault",
  ].map((words) => `^(?:${words})`).join("|"),
);

/** Errors of shells, of Perl and of the system: they carry no log level. */
const PLAIN_ERRORS: readonly RegExp[] = [
  /^\S+: (?:line )?\d+: /,
  / at \S+ line \d+(?:\.|, <)/,
  /(?:command not found|: not found|denied|No such file or directory|already in use|refused)\b/i,
];

const CAUSE = /^\s*(?:\[cause\]|Caused by):\s*(.*)$/;

interface Found {
  readonly at: number;
  /** Empty if the output names no cause. */
  cause: string;
}

/**
 * The last line that states an error (an exception, a panic, an error entry of a logger), with its
 * cause. Undefined if no line does.
 */
export function errorLine(output: readonly string[]): string | undefined {
  const lines = output.map(shown);
  const levels = new LevelReader();
  const read = lines.map((line) => ({ line, level: levels.of(line), part: levels.part }));
  let found: Found | undefined;
  let isOpen = false;
  for (let at = firstOf(lines); at < read.length; at++) {
    const { line, level, part } = read[at]!;
    const cause = CAUSE.exec(line)?.[1];
    if (cause !== undefined) {
      if (found === undefined) found = { at, cause: "" };
      else if (isOpen) found.cause = cause || lines[at + 1]?.trim() || "";
    } else if (part !== "more") {
      const isError = level === "error";
      // A launcher reports the program's failure again: keep the program's own error.
      if (isError && !(found !== undefined && AFTERWORD.test(line))) found = { at, cause: "" };
      isOpen = isError;
    }
  }
  if (found === undefined) return undefined;
  const text = errorText(lines, found.at);
  return shortened(found.cause === "" ? text : `${text}; caused by ${found.cause}`, MAX_LENGTH);
}

/**
 * For output that states no error: the last line that looks like an error of a shell or of Perl,
 * otherwise the last line. Undefined if the output is empty.
 */
export function likelyErrorLine(output: readonly string[]): string | undefined {
  const lines = output.map(shown);
  const heads = lines.slice(firstOf(lines))
    .filter((line) => !continuesEntry(line) && levelOf(line) === undefined);
  const own = heads.filter((line) => !AFTERWORD.test(line));
  const found = own.findLast((line) => PLAIN_ERRORS.some((pattern) => pattern.test(line))) ??
    own.at(-1) ?? heads[0];
  return found === undefined ? undefined : shortened(found, MAX_LENGTH);
}

function shown(line: string): string {
  return plainText(lastState(line));
}

/** Where the last `LINES` lines begin, not counting stack traces. */
function firstOf(lines: readonly string[]): number {
  let left = LINES;
  return lines.findLastIndex((line) => !continuesEntry(line) && --left === 0) + (left > 0 ? 1 : 0);
}

/** The message and error of a log entry; a heading with the line below it; otherwise the line. */
function errorText(lines: readonly string[], at: number): string {
  const line = lines[at]!.trim();
  const below = lines[at + 1]?.trim() ?? "";
  if (/:$|^terminate called after|^\w+: \S+\[\d+\]$/.test(line) && below !== "") {
    return `${line} ${below}`;
  }
  const entry = structuredLine(line);
  if (entry === undefined) return line;
  const { message, stack, fields } = entry;
  const error = stack === undefined ? errorIn(fields) : errorLine(stack.split("\n"));
  if (error === undefined || message.includes(error)) return message.split("\n")[0]!;
  return error.includes(message) ? error : `${message}: ${error}`;
}

function errorIn(fields: readonly (readonly [key: string, value: string])[]): string | undefined {
  const value = fields.find(([key]) => /^(?:err|error|exception|reason)$/.test(key))?.[1];
  if (value === undefined) return undefined;
  const { message } = jsonFields(value) ?? { message: value };
  return typeof message === "string" ? message.split("\n")[0] : undefined;
}
