/** How a process is asked for something. */

/** How a stop is meant. */
export interface StopRequest {
  readonly timeoutMs?: number;
  readonly reason?: string;
}

/** How a start is meant. */
export interface UpOptions {
  /** Resolve only when it is ready, or, without a readiness check, up for its `min_uptime`. */
  readonly wait?: boolean;
}

/** How a start or restart is meant. */
export interface RestartOptions extends UpOptions {
  /** Why, in words. */
  readonly reason?: string;
}
