/** A start that came to nothing. */

import { type ErrorDetails, ProcsupError } from "./errors.ts";
import type { ProcessState } from "./process_info.ts";

/** What a run wrote last. */
export interface LastWords {
  /** The line that says what went wrong; undefined where none does. */
  readonly errorLine?: string | undefined;
  /** Its last lines: of standard error; of standard output where that says more. */
  readonly lastOutput: readonly string[];
}

/** What is known of it. */
export interface FailedStart extends LastWords {
  /** Name of the process. */
  readonly processName: string;
  /** The state it is left in. It stays registered, to be looked at, restarted or removed. */
  readonly state: ProcessState;
}

/** A process could not be started, or did not stay up. Its code is `start_failed`. */
export class StartFailedError extends ProcsupError implements FailedStart {
  /** What went wrong, in one line; the message goes on with the last lines of output. */
  readonly summary: string;
  /** Name of the process. */
  readonly processName: string;
  /** The state it is left in. It stays registered, to be looked at, restarted or removed. */
  readonly state: ProcessState;
  /** The line that says what went wrong; undefined where none does. */
  readonly errorLine: string | undefined;
  /** Its last lines: of standard error; of standard output where that says more. */
  readonly lastOutput: readonly string[];

  /** An error that shows what the process said last. */
  constructor(summary: string, failed: FailedStart, options?: ErrorOptions & ErrorDetails) {
    const { errorLine, lastOutput } = failed;
    const what = errorLine === undefined ? summary : `${summary}: ${errorLine}`;
    const said = lastOutput.map((line) => `\n  ${line}`).join("");
    super("start_failed", said === "" ? what : `${what}; it said last:${said}`, options);
    this.summary = summary;
    this.processName = failed.processName;
    this.state = failed.state;
    this.errorLine = errorLine;
    this.lastOutput = lastOutput;
  }
}
