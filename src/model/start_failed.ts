/** A start that came to nothing. */

import { type ErrorDetails, ProcsupError } from "./errors.ts";
import type { ProcessState } from "./process_info.ts";

/** What is known of it. */
export interface FailedStart {
  /** Name of the process. */
  readonly processName: string;
  /** The state it is left in. It stays registered, to be looked at, restarted or removed. */
  readonly state: ProcessState;
  /** What its standard error held last. */
  readonly lastStderr: readonly string[];
}

/** A process could not be started, or did not stay up. Its code is `start_failed`. */
export class StartFailedError extends ProcsupError implements FailedStart {
  /** What went wrong, in one line; the message goes on with the last lines of standard error. */
  readonly summary: string;
  /** Name of the process. */
  readonly processName: string;
  /** The state it is left in. It stays registered, to be looked at, restarted or removed. */
  readonly state: ProcessState;
  /** What its standard error held last. */
  readonly lastStderr: readonly string[];

  /** An error that shows what the process said last. */
  constructor(summary: string, failed: FailedStart, options?: ErrorOptions & ErrorDetails) {
    const said = failed.lastStderr.map((line) => `\n  ${line}`).join("");
    super("start_failed", said === "" ? summary : `${summary}; it said last:${said}`, options);
    this.summary = summary;
    this.processName = failed.processName;
    this.state = failed.state;
    this.lastStderr = failed.lastStderr;
  }
}
