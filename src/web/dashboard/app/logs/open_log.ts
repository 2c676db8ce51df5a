/** Loads the newest lines, then follows the log; older ones on demand. Starts again after a lost connection. */

import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError } from "../data/api.ts";
import { readLogs } from "../data/feed_socket.ts";
import { range } from "../data/router.ts";
import { endsOf, now } from "../data/time_range.ts";
import { breathe, type LogReceiver } from "./log_buffer.ts";
import type { LogRow, NewRow } from "./log_lines.ts";
import { filterOf, isFiltered, type LogQuery } from "./log_query.ts";
import { connection, until } from "../data/store.ts";
import { sleep } from "../../../../platform/clock.ts";
import {
  type LogLine,
  type LogPositions,
  type LogStart,
  positionKey,
} from "../../../../model/log_line.ts";
import { LineWindow } from "../../../../protocol/line_window.ts";
import type { LogRequest } from "../../../../protocol/wire.ts";

interface SourceOptions {
  /** Names; empty for all. */
  readonly targets: readonly string[];
  /** Only a fixed range, in milliseconds since the epoch, without following. */
  readonly between?: readonly [number, number] | undefined;
  /** With a filter: lines of the range that is shown, from then on. */
  readonly since?: number | undefined;
  /** The result of `filterOf()`. */
  readonly filter: ReturnType<typeof filterOf>;
  /** Called before the view is filled from the beginning. */
  readonly began: () => void;
}

/** Number of lines in a new view, and of older ones at a time. */
const PAGE = 500;

const RETRY_MS = 1000;
/** Maximum time without letting the page work. */
const TURN_MS = 10;

export class OpenLog {
  /** The current error; empty if none. */
  readonly error = signal("");
  /** True until the stored lines are there. */
  readonly isLoading = signal(true);
  /** True if there are older lines, and later ones in a fixed range. */
  readonly hasOlder = signal(false);
  readonly hasLater = signal(false);
  readonly #sink: LogReceiver;
  readonly #options: SourceOptions;
  readonly #abort = new AbortController();
  /** Where the lines of the view begin and end, by log. */
  #before: LogPositions = {};
  #positions: LogPositions | undefined;
  #isTurning = false;
  /** New lines of several logs. */
  readonly #window = new LineWindow<NewRow>((lines) => this.#show(lines));
  /** True until the first answer of a new stream: the view shows the lines of the one before. */
  #isStale = true;

  constructor(sink: LogReceiver, options: SourceOptions) {
    this.#sink = sink;
    this.#options = options;
    void this.#run();
  }

  close(): void {
    this.#abort.abort();
  }

  /** True if `older()` adds lines: there are some, and room for them. */
  get canAddOlder(): boolean {
    return this.hasOlder.value && !this.#sink.isFull;
  }

  /** Adds older lines at the top, if there is room. */
  async older(): Promise<void> {
    if (!this.canAddOlder) return;
    const from = { ...this.#before, ...this.#sink.lost };
    await this.#turn({ before: from, limit: PAGE }, (lines, { before }) => {
      this.#sink.prepend(lines);
      this.#before = before;
      this.hasOlder.value = Object.keys(before).length > 0;
    });
  }

  /** Adds later lines of a fixed range at the bottom. */
  async later(): Promise<void> {
    if (!this.hasLater.value) return;
    await this.#turn({ from: this.#positions, limit: PAGE }, (lines, { positions }) => {
      this.#show(lines);
      this.#positions = positions;
      this.hasLater.value = lines.length >= PAGE;
    });
  }

  /** Reads one page, one at a time. */
  async #turn(
    page: LogRequest,
    take: (lines: readonly NewRow[], start: LogStart) => void,
  ): Promise<void> {
    if (this.#isTurning || this.isLoading.value) return;
    this.#isTurning = true;
    try {
      const rows: NewRow[] = [];
      let start: LogStart | undefined;
      const items = await readLogs({ ...this.#query(), ...page }, this.#abort.signal);
      for await (const batch of linesIn(items, (found) => start = found)) {
        rows.push(...batch.map(rowOf));
      }
      if (start !== undefined) take(rows, start);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.error.value = reasonOf(error);
    } finally {
      this.#isTurning = false;
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    const { between } = this.#options;
    /** `ended`: without an error, since all of its processes are deleted. */
    let before: "nothing" | "begun" | "ended" = "nothing";
    while (!signal.aborted) {
      try {
        await until(() => connection.value === "live", signal);
        if (signal.aborted) return;
        this.#isStale = true;
        if (before === "nothing") this.#refresh();
        this.isLoading.value = true;
        const newest: LogRequest = { ...this.#query(), limit: PAGE, positions: true };
        if (between !== undefined) return await this.#pour(newest);
        await this.#pour({ ...newest, follow: true, unfinished: true });
        before = "ended";
      } catch (error) {
        if (signal.aborted) return;
        const isGone = before === "ended" && error instanceof ApiError &&
          error.code === "process_not_found";
        before = "begun";
        this.error.value = isGone ? "Deleted: these were its last lines" : reasonOf(error);
        if (error instanceof ApiError && isFinal(error)) break;
      } finally {
        this.isLoading.value = false;
      }
      await sleep(RETRY_MS, signal);
    }
  }

  #query(): LogRequest {
    const { between, since, targets, filter } = this.#options;
    return {
      ...{ ...filter, cut: true },
      ...(targets.length > 0 && { target: [...targets] }),
      ...(since !== undefined && { since: new Date(since).toISOString() }),
      ...(between !== undefined && {
        since: new Date(between[0]).toISOString(),
        until: new Date(between[1]).toISOString(),
      }),
    };
  }

  /** Empties the view for a stream that has begun. One that is refused leaves it as it was. */
  #refresh(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#sink.clear();
    this.#options.began();
  }

  /** Adds lines at the bottom. The ones that make room for them are older ones then. */
  #show(lines: readonly NewRow[]): void {
    // After it is closed, the view belongs to another one.
    if (lines.length === 0 || this.#abort.signal.aborted) return;
    this.#sink.add(lines);
    if (Object.keys(this.#sink.lost).length > 0) this.hasOlder.value = true;
  }

  /** Adds what a query finds to the view. */
  async #pour(query: LogRequest): Promise<void> {
    const items = await readLogs(query, this.#abort.signal);
    this.error.value = "";
    let until = performance.now() + TURN_MS;
    const started = (start: LogStart) => {
      const { positions, before } = start;
      this.#refresh();
      this.#positions = positions;
      this.#before = before;
      this.hasOlder.value = Object.keys(before).length > 0;
      // Lines of a fixed range that come after the ones that are read back from its end.
      this.hasLater.value = this.#options.between !== undefined;
      this.isLoading.value = false;
      this.#window.started(start);
    };
    try {
      for await (const batch of linesIn(items, started)) {
        if (batch.length === 0) continue;
        this.#refresh();
        this.#window.add(batch.map(rowOf));
        if (performance.now() < until) continue;
        await breathe();
        until = performance.now() + TURN_MS;
      }
      this.#refresh();
    } finally {
      this.#window.end();
    }
  }
}

function rowOf({ line, at, cut, ...rest }: LogLine): NewRow {
  const start = cut === undefined ? {} : { start: rest.end - cut };
  return { ...rest, ...start, text: line, at: Date.parse(at) };
}

/** Maximum pieces of 64 KiB that are read of a line. */
const MAX_PIECES = 64;

/** Reads a long line, of which the view has only the beginning, by its position. */
export async function wholeLine(
  { start, name, stream }: LogRow,
  signal: AbortSignal,
): Promise<string> {
  const from = { [positionKey({ name, stream })]: start ?? 0 };
  const query: LogRequest = { target: [name], [stream]: true, from, limit: MAX_PIECES };
  let text = "";
  for await (const batch of linesIn(await readLogs(query, signal), () => {})) {
    for (const { line, partial } of batch) {
      text += line;
      if (!partial) return text;
    }
  }
  return `${text} …`;
}

function reasonOf(error: unknown): string {
  return error instanceof ApiError ? error.message : "The connection is lost";
}

async function* linesIn(
  items: AsyncIterable<readonly (LogLine | LogStart)[]>,
  started: (start: LogStart) => void,
): AsyncGenerator<readonly LogLine[]> {
  for await (const batch of items) {
    batch.filter((item) => "positions" in item).forEach(started);
    yield batch.filter((item) => "line" in item);
  }
}

/** True if a retry would fail again. 401, 408 and 429 are worth a retry. */
function isFinal({ status }: ApiError): boolean {
  return status >= 400 && status < 500 && ![401, 408, 429].includes(status);
}

/** How far after a selected moment the first lines end, in milliseconds; later ones follow. */
const AFTER_MS = 30_000;
/** Delay while typing: each search reads the logs of the range. */
const TYPING_MS = 300;

/** Reads the newest lines of logs into the panes. */
export function useLogSource(
  panes: LogReceiver,
  query: LogQuery,
  follow: Signal<boolean>,
): OpenLog | undefined {
  const source = useSignal<OpenLog | undefined>(undefined);
  const filter = filterOf(query);
  const isSearch = filter.grep !== undefined;
  const { span, from, to, at } = range.value;
  const end = at > 0 && !isFiltered(query) ? Math.min(to, at + AFTER_MS) : to;
  useEffect(() => {
    if (query.isGrouped) return;
    let opened: OpenLog | undefined;
    const open = () => {
      opened = new OpenLog(panes, {
        ...{ targets: query.targets, filter },
        between: span === undefined ? [from, end] : undefined,
        since: isFiltered(query) ? endsOf(range.peek(), now())[0] : undefined,
        // Start at the end, except for a fixed range.
        began: () => follow.value = span !== undefined,
      });
      source.value = opened;
    };
    source.value = undefined;
    const timer = isSearch ? setTimeout(open, TYPING_MS) : undefined;
    if (!isSearch) open();
    return () => (clearTimeout(timer), opened?.close());
  }, [
    panes,
    query.isGrouped,
    span ?? `${from} ${end}`,
    JSON.stringify(filter),
  ]);
  return source.value;
}
