/** Reads a log backward: the newest lines first, and no more of it than is wanted. */

import { continuesEntry, LevelReader } from "../../model/log_level.ts";
import { plainText } from "../../model/plain_text.ts";
import { ifAnyAsync } from "../../platform/files/stat.ts";
import { firstPosition, startOfArchive } from "../write/archives.ts";
import { EntryCutter, type LogEntry } from "./entry_cutter.ts";
import { LogCursor } from "./log_cursor.ts";
import type { LineMatcher, LogFilter } from "./log_filter.ts";
import { Search } from "./search.ts";
import { readTimeIndex, type TimeIndex } from "../write/time_index.ts";

export interface BackwardOptions {
  /** Only lines that end at this position or before. */
  readonly before?: number | undefined;
  /** Whether an unfinished last line counts. */
  readonly complete: boolean;
  readonly filter?: LogFilter | undefined;
  /** Maximum bytes to go back. A line that is longer loses its beginning. */
  readonly mostBytes?: number | undefined;
  /** Whether lines come with their meaning. A level filter needs it, too. */
  readonly meaning?: boolean | undefined;
  /** The search that this reading is part of; default: one of its own without limits. */
  readonly search?: Search | undefined;
}

/** Bytes read first, and how much more each time. A longer line is split into pieces of the most. */
const [FIRST_BYTES, FACTOR, MOST_BYTES] = [64 * 1024, 4, 8 * 1024 * 1024];

/** Maximum size of the lines of a part, in UTF-16 units: an archive may have any size. */
const MAX_HELD = 8 * 1024 * 1024;
/** What a line takes besides its text. */
const BESIDE = 100;

/** A time of a log may be noted a little after its last write. */
const NOTED_LATE_MS = 2000;

const LINES_A_TURN = 50;

export class BackwardLog {
  readonly #path: string;
  readonly #options: BackwardOptions;
  readonly #cursor: LogCursor;
  readonly #search: Search;
  #index: TimeIndex | undefined;
  #bytes = FIRST_BYTES;
  #isStopped = false;
  /** Position after its newest line; undefined before `parts()`, and without a file. */
  end: number | undefined;
  /** All lines from this position on were returned, or do not pass; undefined if there are no older ones. */
  reached: number | undefined;

  constructor(path: string, options: BackwardOptions) {
    this.#path = path;
    this.#options = options;
    this.#cursor = new LogCursor(path, true);
    this.#search = options.search ?? new Search();
  }

  /** Its lines are not later than this; -Infinity without a file. */
  async latest(): Promise<number> {
    const info = await ifAnyAsync(() => Deno.stat(this.#path));
    if (info === undefined) return -Infinity;
    const written = info.mtime === null ? Infinity : info.mtime.getTime() + NOTED_LATE_MS;
    const { since, until = Infinity } = this.#options.filter ?? {};
    return since !== undefined && written < since ? -Infinity : Math.min(written, until);
  }

  /** The lines in chunks; they and their lines are in order, the newest first. */
  async *parts(): AsyncGenerator<readonly LogEntry[]> {
    const { before = Infinity, complete, filter, mostBytes = Infinity } = this.#options;
    await filter?.ready();
    const span = await this.#cursor.open();
    if (span === undefined) return;
    const index = await this.#cursor.consistently((base) => readTimeIndex(this.#path, base));
    this.#index = index;
    const { since, until } = filter ?? {};
    const to = Math.min(
      ...[span.end, before, until === undefined ? Infinity : index.positionAfter(until)],
    );
    // Older output is of a deleted app.
    const first = Math.max(span.from, firstPosition(this.#path, span.base));
    const oldest = Math.max(first, since === undefined ? 0 : index.positionAt(since));
    const begin = Math.max(oldest, to - mostBytes);
    const beginsAt = begin === first ? "line" : begin === oldest ? "time" : "byte";
    this.end = to;
    this.reached = to > oldest ? to : undefined;
    for (let end = to; end > begin && !this.#isStopped;) {
      const isNewest = end === to;
      const part = await this.#part(end, {
        ...{ begin, beginsAt, base: span.base, isNewest },
        complete: !isNewest || to === before || (complete && to === span.end),
      });
      if (isNewest) this.end = part.end;
      // What is left before is only a part of a line.
      if (part.start === end) return;
      this.#bytes = Math.min(this.#bytes * FACTOR, MOST_BYTES);
      end = part.start;
      this.reached = end > oldest ? end : undefined;
      if (part.entries.length > 0) yield part.entries.reverse();
    }
  }

  /** Ends `parts()` soon. */
  stop(): void {
    this.#isStopped = true;
    this.#search.stop();
  }

  close(): void {
    this.#cursor.giveBack();
    this.#cursor.close();
  }

  /** The lines before a position: as many as are read at once, but at least one whole message. */
  async #part(end: number, limits: PartLimits): Promise<Part> {
    const { begin, beginsAt, base, isNewest } = limits;
    for (let start = end;;) {
      const before = start > base
        ? Math.max(base, Math.min(start - 1, end - this.#bytes))
        : startOfArchive(this.#path, base, start);
      start = Math.max(begin, before);
      const isWhole = start === begin && beginsAt !== "byte";
      const part = await this.#read(start, end, { ...limits, takesAll: isWhole });
      if (part !== undefined) return part;
      if (start === begin && !isNewest) return { entries: [], start: end, end };
      if (start === begin || end - start >= MOST_BYTES || this.#isStopped) {
        return (await this.#read(start, end, { ...limits, takesAll: true }))!;
      }
      this.#bytes = Math.min(this.#bytes * FACTOR, MOST_BYTES);
    }
  }

  /** Undefined if no message begins in the part, unless it `takesAll`. */
  async #read(
    start: number,
    end: number,
    { begin, beginsAt, complete, takesAll }: PartLimits & { readonly takesAll: boolean },
  ): Promise<Part | undefined> {
    const { filter, meaning = filter?.byEntry ?? false } = this.#options;
    const { since = -Infinity, until = Infinity } = filter ?? {};
    const cutter = new EntryCutter();
    const skipsLine = start > 0 && (!takesAll || (start === begin && beginsAt === "time"));
    cutter.skips = skipsLine;
    this.#cursor.position = skipsLine ? start - 1 : start;
    this.#cursor.end = end;
    const held = new HeldLines();
    const look = looker(filter?.matcher?.(), meaning);
    let first = takesAll && !skipsLine ? start : undefined;
    for (let isOver = false; !isOver && !this.#isStopped;) {
      const chunk = await this.#cursor.read();
      isOver = chunk === undefined;
      if (isOver && !complete) break;
      this.#search.add(chunk?.length ?? 0);
      const timeAt = (position: number) => this.#index!.timeAt(position);
      let entries: LogEntry[] = cutter.cut(chunk, this.#cursor.position, timeAt);
      this.#cursor.giveBack();
      if (first === undefined) {
        const at = meaning && start > begin && !takesAll
          ? entries.findIndex(({ line }) => !continuesEntry(plainText(line)))
          : 0;
        entries = at < 0 ? [] : entries.slice(at);
        first = entries[0]?.start;
      }
      const inTime = entries.filter(({ at }) => at >= since && at <= until);
      const passing = look === undefined ? inTime : await this.#search.run(look(inTime)) ?? [];
      passing.forEach((entry) => held.add(entry));
    }
    if (first === undefined && !takesAll) return undefined;
    const rest = complete ? 0 : cutter.splitter.waiting;
    return { entries: held.entries, start: held.cutAt ?? first ?? start, end: end - rest };
  }
}

interface PartLimits {
  /** Nothing before it is wanted: a line begins there, or the time range, or it is far enough. */
  readonly begin: number;
  readonly beginsAt: "line" | "time" | "byte";
  readonly isNewest: boolean;
  /** See `Span`. */
  readonly base: number;
  /** Whether an unfinished last line counts. */
  readonly complete: boolean;
}

interface Part {
  /** The oldest first. */
  readonly entries: LogEntry[];
  readonly start: number;
  readonly end: number;
}

/** Finds the lines of a part that pass; undefined if all do, and their meaning is not wanted. */
function looker(
  matches: LineMatcher | undefined,
  meaning: boolean,
): ((entries: readonly LogEntry[]) => Generator<void, LogEntry[]>) | undefined {
  if (matches === undefined && !meaning) return undefined;
  const levels = new LevelReader();
  let head = 0;
  return function* (entries) {
    const passing: LogEntry[] = [];
    for (const [index, entry] of entries.entries()) {
      const level = meaning ? levels.of(plainText(entry.line)) : undefined;
      const { part } = levels;
      if (part === "first") head = entry.start;
      if (index % LINES_A_TURN === 0) yield;
      if (matches !== undefined && !(yield* matches(entry.line))) continue;
      passing.push(meaning ? { ...entry, meaning: { level, part, head } } : entry);
    }
    return passing;
  };
}

/** The newest lines of a part, up to the maximum size. */
class HeldLines {
  #entries: LogEntry[] = [];
  #first = 0;
  #size = 0;

  get entries(): LogEntry[] {
    return this.#entries.slice(this.#first);
  }

  /** Where the lines begin, if older ones were dropped. */
  get cutAt(): number | undefined {
    return this.#first === 0 ? undefined : this.#entries[this.#first]!.start;
  }

  add(entry: LogEntry): void {
    this.#entries.push(entry);
    this.#size += entry.line.length + BESIDE;
    while (this.#size > MAX_HELD && this.#first < this.#entries.length - 1) {
      this.#size -= this.#entries[this.#first++]!.line.length + BESIDE;
    }
    // Let go of the dropped ones, but for one that tells that there were some.
    if (this.#first <= 10_000) return;
    this.#entries.splice(0, this.#first - 1);
    this.#first = 1;
  }
}
