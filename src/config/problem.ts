/** Mistakes in configuration files, and notes on unsupported parts of other tools' files. */

import { type ErrorDetails, ProcsupError } from "../model/errors.ts";
import { basename } from "@std/path";
import type { Place } from "./document.ts";

/** Stands for a configuration that a request contains; relative paths in it are below `/`. */
export const INLINE_FILE = "/config";

interface ProblemOptions {
  readonly place?: Place | undefined;
  readonly advice?: string | undefined;
  readonly hint?: ErrorDetails["hint"];
}

/** One mistake in a configuration file. */
export class ConfigProblem extends ProcsupError {
  /** Undefined if the format has no positions. */
  readonly place: Place | undefined;
  /** The message without the place. */
  readonly what: string;
  /** What would be right; undefined if unknown. */
  readonly advice: string | undefined;

  constructor(file: string, what: string, { place, advice, hint }: ProblemOptions = {}) {
    const at = place !== undefined
      ? `${place.file}:${place.line}:${place.column}: `
      : file === INLINE_FILE
      ? ""
      : `${file}: `;
    const text = `${what}${advice === undefined ? "" : `: ${advice}`}`;
    super("invalid_config", `${at}${text}`, {
      hint,
      mistakes: place && [{
        ...{ file: place.file, line: place.line, column: place.column },
        what: text,
      }],
    });
    this.place = place;
    this.what = what;
    this.advice = advice;
  }
}

/** All mistakes of a configuration. The message is that of the first. */
export class ConfigProblems extends ProcsupError {
  readonly problems: readonly ProcsupError[];

  constructor(problems: readonly ProcsupError[]) {
    const more = problems.length - 1;
    super(
      "invalid_config",
      problems[0]!.message + (more > 0 ? ` (and ${more} more)` : ""),
      {
        hint: { text: "See every mistake", command: { verb: "config validate" } },
        mistakes: problems.flatMap(({ mistakes = [] }) => mistakes),
      },
    );
    this.problems = problems;
  }
}

/** Throws `ConfigProblems` if there are problems. */
export function throwProblems(problems: readonly ProcsupError[]): void {
  if (problems.length > 0) throw new ConfigProblems(problems);
}

/** A part of another tool's file that procsup does not support, or handles differently. */
export interface Note {
  /** Name of the process; undefined for the whole file. */
  readonly process: string | undefined;
  /** In the form `key: what to do`. */
  readonly text: string;
  /** Where the part is; undefined if unknown. */
  readonly place?: Pick<Place, "file" | "line"> | undefined;
}

/** Notes that are printed unless all are asked for. */
const MOST_NOTES = 10;

/** The notes as lines, process by process. Without `all`, the last line may count the others. */
export function noteLines(notes: readonly Note[], all: boolean): string[] {
  const lines = [...Map.groupBy(notes, ({ process }) => process).values()].flat().map(noteText);
  const most = all || lines.length === MOST_NOTES + 1 ? lines.length : MOST_NOTES;
  const others = lines.length - most;
  return [...lines.slice(0, most), ...(others > 0 ? [`${others} more: --notes`] : [])];
}

function noteText({ process, text, place }: Note): string {
  const where = [process, place && `${basename(place.file)}:${place.line}`];
  const shown = where.filter((part) => part !== undefined).join(", ");
  return `not converted${shown === "" ? "" : ` (${shown})`}: ${text}`;
}
