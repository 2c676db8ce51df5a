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
  readonly type: ChangeType;
  readonly at: Date;
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly state: ProcessState;
  readonly pid: number;
  readonly restarts: number;
  /** Why, in words. */
  readonly reason: string;
  /** Of the run that just ended. */
  readonly exit: Exit | null;
}
