/** The events of a process. */

import type { Exit, ProcessState } from "./process_info.ts";

/** Kind of event: a state that was entered, or something else. */
export type ChangeType =
  | "added"
  | "deleted"
  | "adopted"
  | "note"
  | "healthy"
  | "unhealthy"
  | ProcessState;

/** When each kind of event happens, for the documentation. */
export const CHANGE_MEANINGS: Readonly<Record<ChangeType, string>> = {
  added: "The process was created.",
  deleted: "The process was deleted.",
  adopted: "A new daemon adopted the running process.",
  note: "A warning; `reason` says what happened. The state is unchanged.",
  healthy: "The health checks succeed again, or for the first time.",
  unhealthy: "The health checks failed `retries` times in a row.",
  starting: "A run is being launched.",
  running: "The run is up, and ready if readiness is configured.",
  stopping: "The run is being stopped.",
  stopped: "It was stopped, or exited with a success code.",
  crashed: "A run ended by itself; `exit` says how. A restart may follow.",
  errored: "It could not be started, or used up its restarts.",
  waiting: "It waits for the next restart, for a dependency or for the machine.",
};

/** Every kind of event. */
export const CHANGE_TYPES = Object.keys(CHANGE_MEANINGS) as readonly ChangeType[];

/** One event of a process. */
export interface ProcessChange {
  /** Kind of event. */
  readonly type: ChangeType;
  /** When it happened. */
  readonly at: Date;
  /** UUID. */
  readonly id: string;
  /** Name of the process. */
  readonly name: string;
  /** State after the event. */
  readonly state: ProcessState;
  /** Process id; 0 while nothing runs. */
  readonly pid: number;
  /** Automatic restarts so far. */
  readonly restarts: number;
  /** Reason, as a phrase for people. */
  readonly reason: string;
  /** How the last run ended, at any event; null before the first end. */
  readonly exit: Exit | null;
}
