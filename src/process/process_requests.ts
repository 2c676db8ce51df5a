/** The options of requests to a process. */

import { ProcsupError } from "../model/errors.ts";
import type { EndCause } from "../model/process_info.ts";

export interface StopRequest {
  readonly timeoutMs?: number;
  readonly reason?: string;
  /**
   * Default: a user. `schedule` is its own one, which continues: the next run still takes place. A
   * `release` stops an app that becomes a job.
   */
  readonly cause?: Extract<EndCause, "user" | "schedule" | "release">;
  /** Called once it is stopped, unless it was started again. Until it resolves, its schedule starts nothing. */
  readonly then?: () => Promise<void>;
}

/** A request to replace the run by one of another generation; see `ManagedProcess.replace()`. */
export interface ReplaceOptions extends RestartOptions {
  readonly generation: number;
}

export interface HookOrigin {
  /** In snake case, as the hook knows it. */
  readonly event: string;
  /** UUID of its process. */
  readonly id: string;
}

export interface UpOptions {
  /** The hook that makes the request, if any. */
  readonly askedIn?: HookOrigin | undefined;
  /**
   * With `true`, resolve when it is ready or, without a readiness check, up for `min_uptime`. With
   * `false`, a start resolves while `pre_start` runs. Undefined: when the app is launched.
   */
  readonly wait?: boolean | undefined;
}

export interface RestartOptions extends UpOptions {
  /** Why, in words. */
  readonly reason?: string;
  /** Why the run ends. Default: a user. */
  readonly cause?: EndCause;
}

/** Hooks that are part of a restart or reload: requesting another one in them would never end. */
const PART_OF_IT: ReadonlySet<string> = new Set(["pre_start", "pre_restart", "pre_reload"]);

/** Throws `wrong_state` if a hook of a restart or reload requests another of its own process. */
export function refuseEndless(
  verb: "restart" | "reload",
  { id, name }: { readonly id: string; readonly name: string },
  { askedIn }: UpOptions,
): void {
  if (askedIn?.id !== id || !PART_OF_IT.has(askedIn.event)) return;
  const { event } = askedIn;
  throw new ProcsupError(
    "wrong_state",
    `Cannot ${verb} "${name}" in its own ${event} hook: that would run the hook again, without end`,
  );
}
