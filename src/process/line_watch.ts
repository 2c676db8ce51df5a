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
  /** Those whose existing lines have not been read yet. */
  readonly #unread = new Set<LogEntries>();
  #isStopped = false;

  constructor(process: MonitoredRun, source: string, found: () => void) {
    this.#begin(process, source, found)
      .catch((error) => process.note(`cannot look for its ready_log: ${messageOf(error)}`));
  }

  /** Whether it has read, or failed to read, the lines that existed when it began. */
  get hasLooked(): boolean {
    return this.#unread.size === 0;
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
    for (const log of this.#logs) this.#unread.add(log);
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
      this.#unread.delete(log);
      for await (const _ of log.coming()) return matched();
    } finally {
      this.#unread.delete(log);
      log.close();
    }
  }
}

/** The pattern of a `ready_log`. Throws `invalid_config`, here or from `ready()`. */
export function readyPattern(source: string): LinePattern {
  return linePattern(source, { field: "ready_log", code: "invalid_config" });
}
