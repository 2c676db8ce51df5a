/** Looks for a line in what a run writes. */

import { lineStream } from "../logs/line_stream.ts";
import { logStream } from "../logs/follow_log.ts";
import type { Attendant, Attended } from "./attended.ts";

const POLL_MS = 50;

/** Calls `found` at the first line that matches, of either log. */
export class LineWatch implements Attendant {
  readonly #abort = new AbortController();

  constructor(process: Attended, pattern: RegExp, found: () => void) {
    const [stdout, stderr] = process.run.outputFrom ?? [0, 0];
    void this.#watch(process.logs.stdout, stdout, pattern, found);
    void this.#watch(process.logs.stderr, stderr, pattern, found);
  }

  stop(): void {
    this.#abort.abort();
  }

  async #watch(path: string, start: number, pattern: RegExp, found: () => void): Promise<void> {
    const { signal } = this.#abort;
    const lines = logStream(path, { follow: true, start, signal, pollMs: POLL_MS })
      .pipeThrough(lineStream());
    for await (const line of lines) {
      if (signal.aborted) return;
      if (!pattern.test(line)) continue;
      this.stop();
      return found();
    }
  }
}
