/** Waits until a run is ready: by a line of its output, by a delay, or by what its app says. */

import { LogEntries } from "../logs/read/log_entries.ts";
import { lineFilter } from "../logs/read/log_filter.ts";
import { type LinePattern, linePattern } from "../logs/read/line_pattern.ts";
import { formatDuration } from "../model/duration.ts";
import { messageOf } from "../model/errors.ts";
import { isReadyByHealth } from "../model/transition_steps.ts";
import type { Cancel } from "../platform/clock.ts";
import { saysReady } from "./launch_setup.ts";
import type { Monitor, RunView } from "./run_view.ts";

/**
 * Waits for readiness; posts `became_ready` or, at the timeout, `ready_timed_out`. Time in which no
 * daemon looked does not count: the run may have become ready meanwhile.
 */
export function awaitReadiness(process: RunView): Monitor {
  const { attempt, config, world } = process;
  const ready = () => {
    stop();
    process.post({ type: "became_ready", attempt });
  };
  const cancels: Cancel[] = [];
  const stop = () => cancels.forEach((cancel) => cancel());
  const late = () => {
    stop();
    process.post({ type: "ready_timed_out", attempt, reason: lateness(process) });
  };
  if (config.readyDelayMs !== undefined) {
    const left = Math.max(0, config.readyDelayMs - process.uptimeMs);
    cancels.push(world.clock.after(left, ready));
    return { stop };
  }
  let dueAt = world.clock.steady() + config.listenTimeoutMs;
  let cancelLate = world.clock.after(config.listenTimeoutMs, late);
  cancels.push(() => cancelLate());
  const notices = world.notices(process.run);
  const cancelListening = notices?.listen((notice) => {
    if (notice.type === "ready" && saysReady(config)) ready();
    if (notice.type !== "extend" || world.clock.steady() + notice.ms <= dueAt) return;
    dueAt = world.clock.steady() + notice.ms;
    cancelLate();
    cancelLate = world.clock.after(notice.ms, late);
  });
  cancels.push(() => cancelListening?.());
  if (config.readyLog !== undefined) {
    const watch = new LineWatch(process, config.readyLog, ready);
    cancels.push(() => watch.stop());
  } else if (config.healthCheck === undefined) {
    cancels.push(world.whenReady(process.run.runId, ready));
    if (notices?.now.isReady) ready();
  }
  // Otherwise the first successful health check makes it ready.
  return { stop };
}

/** Why it is too late: what it waited for, and what its last check found. */
function lateness({ config, journal, uptimeMs, world }: RunView): string {
  const { at = 0, problem = "" } = journal.checks.at(-1) ?? {};
  const isOurs = at >= world.clock.now() - uptimeMs;
  const why = isOurs && problem !== "" && isReadyByHealth(config) ? `: ${problem}` : "";
  const limit = formatDuration(config.listenTimeoutMs);
  return `not ready within ${limit}: waited for ${readySign(config)}${why}`;
}

/** What makes a run ready, in words. */
export function readySign({ readyLog, readyDelayMs, healthCheck }: RunView["config"]): string {
  if (readyDelayMs !== undefined) return `its ready_delay of ${formatDuration(readyDelayMs)}`;
  if (readyLog !== undefined) return `a line of output that matches ${JSON.stringify(readyLog)}`;
  if (healthCheck !== undefined) return `its ${healthCheck.type} health check`;
  return "READY=1, by sd_notify or in $PROCSUP_READY_FILE";
}

const POLL_MS = 50;

/** Calls `found` at the first matching line of either log. */
class LineWatch implements Monitor {
  readonly #logs: LogEntries[] = [];
  #isStopped = false;

  constructor(process: RunView, source: string, found: () => void) {
    this.#begin(process, source, found)
      .catch((error) => process.note(`cannot look for its ready_log: ${messageOf(error)}`));
  }

  stop(): void {
    this.#isStopped = true;
    for (const log of this.#logs) log.stop();
  }

  async #begin(process: RunView, source: string, found: () => void): Promise<void> {
    const filter = lineFilter(readyPattern(source));
    const { stdout, stderr } = process.logs;
    for (const [stream, path] of [stdout, stderr].entries()) {
      const from = process.run.outputFrom?.[stream] ?? 0;
      this.#logs.push(new LogEntries(path, { from, filter, pollMs: POLL_MS }));
    }
    await Promise.all(this.#logs.map((log) => this.#watch(log, found)));
  }

  async #watch(log: LogEntries, found: () => void): Promise<void> {
    const matched = () => {
      if (this.#isStopped) return;
      this.stop();
      found();
    };
    try {
      for await (const _ of log.stored(false)) return matched();
      for await (const _ of log.coming()) return matched();
    } finally {
      log.close();
    }
  }
}

/** The pattern of a `ready_log`. Throws `invalid_config`, here or from `ready()`. */
export function readyPattern(source: string): LinePattern {
  return linePattern(source, { field: "ready_log", code: "invalid_config" });
}
