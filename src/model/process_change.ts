/** What there is to tell about a process as it happens. */

import type { Exit, ProcessState } from "./process_info.ts";

/** The kinds of news about a process: a state it entered, or something else that befell it. */
export type ChangeType =
  | "added"
  | "deleted"
  | "adopted"
  | "note"
  | "healthy"
  | "unhealthy"
  | ProcessState;

/** When each of them happens. */
export const CHANGE_MEANINGS: Readonly<Record<ChangeType, string>> = {
  added: "The process was created.",
  deleted: "The process was deleted.",
  adopted: "A new daemon took up the running process.",
  note: "Something worth a warning; `reason` says what. The state is as before.",
  healthy: "The health checks succeed again, or for the first time.",
  unhealthy: "The health checks failed `retries` times in a row.",
  starting: "A run is being launched.",
  running: "The run is up, and ready if it has a readiness.",
  stopping: "The run is being stopped.",
  stopped: "It was stopped, or ended with success.",
  crashed: "A run ended by itself; `exit` says how. A restart may follow.",
  errored: "It could not be started, or used up its restarts.",
  waiting: "A restart is due later, or a dependency or the machine is not ready.",
};

/** One piece of news. */
export interface ProcessChange {
  /** What happened. */
  readonly type: ChangeType;
  /** When. */
  readonly at: Date;
  /** UUID. */
  readonly id: string;
  /** Whom it is about. */
  readonly name: string;
  /** The state it is in now. */
  readonly state: ProcessState;
  /** Process id, 0 while nothing runs. */
  readonly pid: number;
  /** Automatic restarts so far. */
  readonly restarts: number;
  /** Why, in words. */
  readonly reason: string;
  /** Of the run that just ended. */
  readonly exit: Exit | null;
}
