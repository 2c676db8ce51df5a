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
