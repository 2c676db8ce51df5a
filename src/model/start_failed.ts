/** The error of a failed start. */

import { type ErrorDetails, ProcsupError } from "./errors.ts";
import type { ProcessState } from "./process_info.ts";

/** The last output of a run. */
export interface LastWords {
  /** The line that says what went wrong; undefined if none does. */
  readonly errorLine?: string | undefined;
  /** The last lines of standard error, or of standard output if those say more. */
  readonly lastOutput: readonly string[];
}

/** Details of a failed start. */
export interface FailedStart extends LastWords {
  /** Name of the process. */
  readonly processName: string;
  /** State of the process now. It stays registered, so it can be inspected, restarted or removed. */
  readonly state: ProcessState;
}

/** A process could not be started, or did not stay up. Its code is `start_failed`. */
export class StartFailedError extends ProcsupError implements FailedStart {
  /** What went wrong, in one line; `message` adds the last lines of output. */
  readonly summary: string;
  /** Name of the process. */
  readonly processName: string;
  /** State of the process now. It stays registered, so it can be inspected, restarted or removed. */
  readonly state: ProcessState;
  /** The line that says what went wrong; undefined if none does. */
  readonly errorLine: string | undefined;
  /** The last lines of standard error, or of standard output if those say more. */
  readonly lastOutput: readonly string[];

  /** Creates an error whose message ends with the last output. */
  constructor(summary: string, failed: FailedStart, options?: ErrorOptions & ErrorDetails) {
    const { errorLine, lastOutput } = failed;
    const what = errorLine === undefined ? summary : `${summary}: ${errorLine}`;
    const said = lastOutput.map((line) => `\n  ${line}`).join("");
    super("start_failed", said === "" ? what : `${what}; its last output:${said}`, options);
    this.summary = summary;
    this.processName = failed.processName;
    this.state = failed.state;
    this.errorLine = errorLine;
    this.lastOutput = lastOutput;
  }
}

/** The message of a failed start or reload, without the words that name the process. */
export function withoutName(message: string): string {
  return message.replace(/^Cannot (start|reload) "[^"]*": /, "");
}
