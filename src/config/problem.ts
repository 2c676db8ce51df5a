/** What is wrong with a configuration file, and where. */

import { ProcsupError } from "../model/errors.ts";
import type { Place } from "./document.ts";

/** One mistake in a configuration file. */
export class ConfigProblem extends ProcsupError {
  /** Undefined where the file gives no positions. */
  readonly place: Place | undefined;
  /** What is wrong, without the place. */
  readonly what: string;
  /** What would be right, where that is known. */
  readonly advice: string | undefined;

  constructor(file: string, what: string, options: { place?: Place; advice?: string } = {}) {
    const { place, advice } = options;
    const at = place === undefined ? file : `${place.file}:${place.line}:${place.column}`;
    super("invalid_config", `${at}: ${what}${advice === undefined ? "" : `: ${advice}`}`);
    this.place = place;
    this.what = what;
    this.advice = advice;
  }
}

/** All mistakes of a configuration, the first of them as the message. */
export class ConfigProblems extends ProcsupError {
  readonly problems: readonly ProcsupError[];

  constructor(problems: readonly ProcsupError[]) {
    const more = problems.length - 1;
    super(
      "invalid_config",
      problems[0]!.message + (more > 0 ? ` (and ${more} more)` : ""),
      { hint: "procsup config validate shows every mistake" },
    );
    this.problems = problems;
  }
}

/** Throws when there are any. */
export function throwProblems(problems: readonly ProcsupError[]): void {
  if (problems.length > 0) throw new ConfigProblems(problems);
}
