/** Log lines of the selected apps, in batches no faster than a person can read. */

import { sleep } from "../../platform/clock.ts";
import type { DaemonClient } from "../../protocol/daemon_client.ts";
import { LineWindow } from "../../protocol/line_window.ts";
import { following, unending } from "../../protocol/streams.ts";
import type { LogLine, LogStart } from "../../model/log_line.ts";
import { sourceKey } from "./log_view.ts";
import type { FeedEvent, WantedLogs } from "./state.ts";

/** Delay before a stream is opened, so that moving the cursor opens none. */
const SETTLE_MS = 100;
const BATCH_MS = 80;
/** Maximum size of a batch; the rest waits in the log file. */
const MAX_BATCH_CHARS = 64 * 1024;
/** After this many full batches in a row, about 3 seconds, skip to the last lines. */
const TOO_MANY = 30;
const MAX_LINE_CHARS = 4096;

/** Follows the logs of one selection of apps at a time. */
export class LogFeed {
  readonly #client: DaemonClient;
  readonly #notify: (event: FeedEvent) => void;
  #source = "";
  #over = new AbortController();
  #held: PromiseWithResolvers<void> | undefined;

  constructor(client: DaemonClient, notify: (event: FeedEvent) => void) {
    this.#client = client;
    this.#notify = notify;
  }

  /** Switches to these logs, or to none. */
  follow(wanted: WantedLogs | undefined): void {
    const source = wanted === undefined ? "" : sourceKey(wanted.names, wanted.stderr);
    this.#hold(wanted?.hold ?? false);
    if (source === this.#source) return;
    this.#source = source;
    this.#over.abort();
    this.#over = new AbortController();
    if (source !== "") void this.#run(wanted!, source, this.#over.signal);
  }

  #hold(on: boolean): void {
    if (on) {
      this.#held ??= Promise.withResolvers<void>();
    } else {
      this.#held?.resolve();
      this.#held = undefined;
    }
  }

  async #run(wanted: WantedLogs, source: string, signal: AbortSignal): Promise<void> {
    await sleep(SETTLE_MS, signal);
    for (let skipped = false; !signal.aborted;) {
      skipped = await this.#read(wanted, { source, skipped }, signal);
    }
  }

  /** Reads until the signal. Returns true if it falls behind. A lost daemon shows in the list. */
  async #read(
    { names, stderr }: WantedLogs,
    { source, skipped }: { readonly source: string; readonly skipped: boolean },
    signal: AbortSignal,
  ): Promise<boolean> {
    const lines = Math.max(50, Math.min(1000, Math.floor(2000 / names.length)));
    const query = new URLSearchParams(names.map((name) => ["target", name]));
    query.set("follow", "true");
    query.set("lines", String(lines));
    query.set("positions", "true");
    if (stderr) query.set("stderr", "true");
    const done = new AbortController();
    let start = { begins: true, skipped };
    const batch = new Batch((lines) => {
      this.#notify({ type: "log", source, ...start, lines });
      start = { ...start, begins: false };
    });
    const ends = AbortSignal.any([signal, done.signal]);
    const window = new LineWindow<LogLine>((lines) => lines.forEach((line) => batch.add(line)));
    const logs = following<LogLine | LogStart>({
      open: async () => unending(await this.#client.stream(`/logs?${query}`, ends)),
      opened: (again) => {
        if (!again) return;
        window.end();
        batch.flush();
        start = { begins: true, skipped: false };
      },
      signal,
      forEver: true,
    });
    try {
      for await (const value of logs) {
        if (signal.aborted) return false;
        if ("positions" in value) window.started(value);
        else window.add([value]);
        await this.#held?.promise;
        if (!batch.full) continue;
        if (batch.flushFull() >= TOO_MANY) return true;
        await sleep(BATCH_MS, signal);
      }
      return false;
    } finally {
      window.end();
      batch.end(signal.aborted);
      done.abort();
    }
  }
}

/** Collects lines into batches. */
class Batch {
  readonly #notify: (lines: readonly LogLine[]) => void;
  #lines: LogLine[] = [];
  #chars = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #inARow = 0;

  constructor(notify: (lines: readonly LogLine[]) => void) {
    this.#notify = notify;
  }

  get full(): boolean {
    return this.#chars > MAX_BATCH_CHARS;
  }

  add(value: LogLine): void {
    const { line } = value;
    const capped = line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}…` : line;
    this.#lines.push({ ...value, line: capped });
    this.#chars += capped.length + 100;
    this.#timer ??= setTimeout(() => {
      this.#inARow = 0;
      this.flush();
    }, BATCH_MS);
  }

  /** Consecutive batches that were full before their time was up. */
  flushFull(): number {
    this.flush();
    return ++this.#inARow;
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#chars = 0;
    const lines = this.#lines;
    this.#lines = [];
    if (lines.length > 0) this.#notify(lines);
  }

  end(silently: boolean): void {
    if (silently) this.#lines = [];
    this.flush();
  }
}
