/** All of them. */
export const WAIT_POINTS = ["running", "ready", "stopped", "exit"] as const;

/** A state to wait for. `exit` means stopped, crashed without a restart, or errored. */
export type WaitPoint = (typeof WAIT_POINTS)[number];
