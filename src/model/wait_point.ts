/** The points in a process's life that can be waited for. */

/** Their names; `exit` is at rest for good: stopped, left crashed, or given up. */
export const WAIT_POINTS = [
  "running",
  "ready",
  "stopped",
  "exit",
] as const satisfies readonly WaitPoint[];

/** A point in a process's life that can be waited for; `exit` is at rest for good. */
export type WaitPoint = "running" | "ready" | "stopped" | "exit";
