/** Waits until a process reaches a state; starts or restarts it and waits for the result. */

import { formatDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Input, Snapshot } from "../model/process_state.ts";
import { withoutName } from "../model/start_failed.ts";
import { AT_REST, isSuccess, wantsReadiness } from "../model/transition_steps.ts";
import { describeBackground, foregroundAdvice } from "./background.ts";
import type { ProcessActor } from "./process_actor.ts";
import type { UpOptions } from "./process_requests.ts";
import type { RunController } from "./run_controller.ts";

/** A process with its current run. */
type StartedProcess = ProcessActor & { readonly run: RunController };

/**
 * Running with a pid, ended, or delayed; without `wait`, also starting or awaiting dependencies.
 */
export function settled(now: Snapshot, wait: boolean): boolean {
  if (now.state === "running") return now.pid > 0;
  if (now.state === "starting") return !wait && now.pid > 0;
  if (now.state === "waiting") return !wait || now.awaiting !== "dependencies";
  return now.state !== "stopping";
}

/** Whether no attempt is under way: nothing runs, or dependencies or a client are awaited. */
export function atRest(now: Snapshot): boolean {
  return AT_REST.has(now.state) || now.awaiting === "dependencies" ||
    now.awaiting === "connection";
}

/** Whether an app runs or is being started. */
export function isUp(now: Snapshot): boolean {
  return now.state === "running" || now.state === "starting";
}

/** Whether it has ended successfully: a short job. */
export function endedWell(now: Snapshot, config: ProcessConfig): boolean {
  return now.state === "stopped" && isSuccess(now.lastExit, config);
}

/**
 * Throws `start_failed` when it could not be launched or, with `wait`, did not stay up. An early
 * end is a success only for a job.
 */
export async function startAndWait(
  process: StartedProcess,
  input: Input & { readonly type: "start_requested" },
  { wait }: UpOptions,
): Promise<void> {
  const { snapshot: { attempt, state } } = process;
  // It joins a start that is under way, or that is over.
  const earlier = isUp(process.snapshot) ? attempt - 1 : attempt;
  if (state !== "running") process.post(input);
  // Not the time since the launch: on a busy machine an app begins long after it.
  const uptimeMs = state === "running" ? process.run.uptimeMs : 0;
  const isHooked = process.config.hooks.preStart !== undefined;
  await untilUp(process, earlier, { wait, uptimeMs, isHookEnough: wait === false && isHooked });
}

interface UntilUp extends UpOptions {
  /** How long it has been up. */
  readonly uptimeMs?: number;
  /** Whether it is enough that its `pre_start` hook has begun. */
  readonly isHookEnough?: boolean;
}

/** Waits for the first attempt after `earlier`, and throws like `startAndWait()`. */
export async function untilUp(
  process: StartedProcess,
  earlier: number,
  { wait, uptimeMs = 0, isHookEnough = false }: UntilUp,
): Promise<void> {
  const { name } = process;
  const isEnough = (now: Snapshot) =>
    settled(now, wait === true) || isHookEnough && now.state === "starting";
  const begun = await process.until((now) =>
    isEnough(now) && (now.attempt > earlier || atRest(now))
  );
  const now = wait && !wantsReadiness(process.config)
    ? await survivedMinUptime(process, begun, uptimeMs)
    : begun;
  if (now.state === "running" || now.awaiting === "connection") return;
  if (!wait && now.state !== "errored") return;
  const early = endedWell(now, process.config);
  if (early && process.machine.mayEnd(process)) return;
  if (!early || now.desired === "down") throw startFailed({ name, snapshot: now });
  const background = await process.run.background();
  if (background !== undefined) {
    const what = `${now.lastReason} and ${describeBackground(background)}, which was ended`;
    const hint = foregroundAdvice(background);
    throw new ProcsupError("start_failed", `Cannot start "${name}": ${what}`, { hint });
  }
  const before = wantsReadiness(process.config)
    ? "it was ready"
    : `min_uptime ${formatDuration(process.config.minUptimeMs)}`;
  const what = `Cannot start "${name}": ${now.lastReason} before ${before}`;
  throw new ProcsupError("start_failed", what, {
    hint: "A program that does its work and ends has restart_policy never",
  });
}

/** The error of a process that did not come up, or not for long, with the reason. */
export function startFailed(
  { name, snapshot }: Pick<ProcessActor, "name" | "snapshot">,
): ProcsupError {
  return new ProcsupError("start_failed", `Cannot start "${name}": ${reasonOf(snapshot)}`);
}

/** The reason for its state, without the words that name the process. */
export function reasonOf({ lastReason }: Snapshot): string {
  return withoutName(lastReason);
}

/**
 * The snapshot after `min_uptime`, or when it left the running state before that. If it is
 * restarted meanwhile, that of the new run.
 */
async function survivedMinUptime(
  process: StartedProcess,
  begun: Snapshot,
  uptimeMs: number,
): Promise<Snapshot> {
  if (begun.state !== "running") return begun;
  const enough = new AbortController();
  const rest = Math.max(0, process.config.minUptimeMs - uptimeMs);
  const cancel = process.machine.world.clock.after(rest, () => enough.abort());
  const left = (now: Snapshot) => now.attempt !== begun.attempt || !isUp(now);
  const now = await process.until(left, enough.signal)
    // On a busy machine, the exit of an app may be noticed only after the timer.
    .catch(() => process.run.hasEnded ? process.until(left) : begun)
    .finally(cancel);
  if (now.state !== "stopping" || now.desired === "down") return now;
  const next = await process.until((now) => settled(now, true));
  return await survivedMinUptime(process, next, 0);
}
