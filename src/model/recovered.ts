/** Decides what happens to a process that a new daemon finds. Pure. */

import {
  AT_REST,
  counted,
  freshStart,
  type Policy,
  running,
  type Step,
  wantsReadiness,
} from "./transition_steps.ts";
import type { Run, Snapshot } from "./process_state.ts";

/** Smaller differences are inaccuracies of the kernel's age of a process. */
const CLOCK_SET_MS = 2000;

/**
 * Start time of the run on the current clock, which may have been set since. `ageMs` is the age of
 * the run on the kernel's own clock, if known.
 */
export function startOf(
  now: Snapshot,
  { ageMs }: { ageMs?: number | undefined },
  at: number,
): number {
  const startedAt = now.startedAt ?? at;
  const isSet = ageMs !== undefined && Math.abs(at - startedAt - ageMs) > CLOCK_SET_MS;
  return isSet ? at - ageMs : startedAt;
}

/** Whether a new daemon starts the process if it does not run. */
export function startsAgain({ desired, leaving }: Snapshot): boolean {
  return desired === "up" && !leaving;
}

/** Adopts the running process. */
export function adopted(
  now: Snapshot,
  found: { run: Run; pid: number; ageMs?: number | undefined },
  at: number,
  policy: Policy,
): Step {
  const startedAt = startOf(now, found, at);
  const up = { ...counted(now), run: found.run, pid: found.pid, startedAt };
  if (now.state === "running") return [{ ...up, ready: true }, [{ type: "adopt" }]];
  if (wantsReadiness(policy)) return [{ ...up, ready: false }, [{ type: "adopt" }]];
  const [next, hooks] = running(up, policy);
  return [next, [{ type: "adopt" }, ...hooks]];
}

/** After a reboot: starts again what should run. */
export function afterReboot(now: Snapshot, autostart: boolean, policy: Policy): Step {
  const over: Snapshot = {
    ...now,
    run: null,
    pid: 0,
    ready: false,
    nextRestartAt: null,
    awaiting: null,
    stopTimeoutMs: null,
    signalledAt: null,
    stopCause: null,
    // The reload that replaced them is long over.
    leftovers: now.leftovers.map(({ replaced: _, ...run }) => run),
  };
  if (autostart && startsAgain(now)) return freshStart(over, "started after a reboot", policy);
  if (AT_REST.has(now.state)) return [over, []];
  return [{ ...over, state: "stopped", lastReason: "the machine was rebooted" }, []];
}
