/** Looks for a line in the output of a run. */

import { type LinePattern, linePattern } from "../logs/line_pattern.ts";
import { LogEntries } from "../logs/log_entries.ts";
import { lineFilter } from "../logs/log_filter.ts";
import { messageOf } from "../model/errors.ts";
import type { Monitor, MonitoredRun } from "./monitor.ts";

const POLL_MS = 50;

/** Calls `found` at the first matching line of either log. */
export class LineWatch implements Monitor {
  readonly #logs: LogEntries[] = [];
  #isStopped = false;

  constructor(process: MonitoredRun, source: string, found: () => void) {
    this.#begin(process, source, found)
      .catch((error) => process.note(`cannot look for its ready_log: ${messageOf(error)}`));
  }

  stop(): void {
    this.#isStopped = true;
    for (const log of this.#logs) log.stop();
  }

  async #begin(process: MonitoredRun, source: string, found: () => void): Promise<void> {
    const filter = lineFilter(readyPattern(source));
    const { stdout, stderr } = process.logs;
    for (const [stream, path] of [stdout, stderr].entries()) {
      const from = process.run.outputFrom?.[stream] ?? 0;
      this.#logs.push(new LogEntries(path, { from, filter, pollMs: POLL_MS }));
    }
    await Promise.all(this.#logs.map((log) => this.#watch(log, found)));
  }

  async #watch(log: LogEntries, found: () => void): Promise<void> {
    try {
      for await (const _ of log.coming()) {
        if (this.#isStopped) return;
        this.stop();
        return found();
      }
    } finally {
      log.close();
    }
  }
}

/** The pattern of a `ready_log`. Throws `invalid_config`, here or from `ready()`. */
export function readyPattern(source: string): LinePattern {
  return linePattern(source, { field: "ready_log", code: "invalid_config" });
}
