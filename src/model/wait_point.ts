/** All states to wait for. */
export const WAIT_POINTS = [
  "running",
  "ready",
  "stopped",
  "exit",
] as const satisfies readonly WaitPoint[];

/** A state to wait for. `exit` means stopped, crashed without a restart, or errored. */
export type WaitPoint = "running" | "ready" | "stopped" | "exit";
