/** Looks for a line in what a run writes. */

import { lineStream } from "../logs/line_stream.ts";
import { type LinePattern, linePattern } from "../logs/line_pattern.ts";
import { logStream } from "../logs/log_stream.ts";
import { Search } from "../logs/search.ts";
import { messageOf } from "../model/errors.ts";
import type { Attendant, Attended } from "./attended.ts";

const POLL_MS = 50;

/** Calls `found` at the first line that matches, of either log. */
export class LineWatch implements Attendant {
  readonly #abort = new AbortController();

  constructor(process: Attended, source: string, found: () => void) {
    this.#begin(process, source, found)
      .catch((error) => process.note(`cannot look for its ready_log: ${messageOf(error)}`));
  }

  stop(): void {
    this.#abort.abort();
  }

  async #begin(process: Attended, source: string, found: () => void): Promise<void> {
    const pattern = readyPattern(source);
    await pattern.ready();
    const [stdout, stderr] = process.run.outputFrom ?? [0, 0];
    await Promise.all([
      this.#watch(process.logs.stdout, stdout, pattern, found),
      this.#watch(process.logs.stderr, stderr, pattern, found),
    ]);
  }

  async #watch(
    path: string,
    start: number,
    pattern: LinePattern,
    found: () => void,
  ): Promise<void> {
    const { signal } = this.#abort;
    const lines = logStream(path, { follow: true, start, signal, pollMs: POLL_MS })
      .pipeThrough(lineStream());
    const search = new Search();
    for await (const line of lines) {
      if (signal.aborted) return;
      if (!await search.run(pattern.scan(line)) || signal.aborted) continue;
      this.stop();
      return found();
    }
  }
}

/** The expression of a `ready_log`. Throws `invalid_config`, at once or when it is made ready. */
export function readyPattern(source: string): LinePattern {
  return linePattern(source, { field: "ready_log", code: "invalid_config" });
}
