/**
 * Stores, filters and searches the lines of a log view without blocking the page; and its columns, to
 * which lines are assigned by app.
 */

import { baseName } from "../../../../model/name.ts";
import { signal } from "@preact/signals";
import { plainLine } from "./ansi.ts";
import { type LogQuery, NO_QUERY, patternOf } from "./log_query.ts";
import { Folder, type LogRow } from "./log_lines.ts";

/** Maximum number of lines, close to Chromium's limit for the height of an element. */
const MAX_LINES = 1_200_000;

const SLICE_MS = 12;
const SLICE_LINES = 500;

type Filter =
  & Pick<
    LogQuery,
    "stream" | "search" | "isRegex" | "matchCase" | "invert" | "onlyMatches"
  >
  & {
    /** True to show raw lines, without folding. */
    readonly isRaw?: boolean;
  };

/** Lets the page render and handle input. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** All lines, and those that are shown. */
export class LogBuffer {
  /** Increases with every change of `shown` or `matches`. */
  readonly version = signal(0);
  /** True while a new filter is being applied. */
  readonly isFiltering = signal(false);
  /** Lines that pass the filter. */
  shown: LogRow[] = [];
  /** Positions in `shown` of lines that match the search. */
  matches: number[] = [];
  /** Position in `shown` of the line that keys act on; -1 for none. */
  readonly cursor = signal(-1);
  /** Position in `shown` of the line whose details are open; -1 for none. */
  readonly opened = signal(-1);
  /** Number of lines removed from the top of `shown` so far. */
  dropped = 0;
  /** Number of lines that are shown only when the line into which they are folded is opened. */
  folded = 0;
  readonly #most: number;
  readonly #folder = new Folder();
  #all: LogRow[] = [];
  #seq = 0;
  #filter: Filter = NO_QUERY;
  #pattern: RegExp | undefined;
  #generation = 0;
  #done = 0;
  #bumped = false;

  constructor(most = MAX_LINES) {
    this.#most = most;
  }

  get size(): number {
    return this.#all.length;
  }

  clear(): void {
    this.#all = [];
    this.#restart();
    this.#bump();
  }

  add(lines: readonly Omit<LogRow, "seq">[]): void {
    for (const line of lines) this.#all.push({ ...line, seq: this.#seq++ });
    if (this.#all.length > this.#most) this.#trim();
    if (this.isFiltering.value) return;
    this.#sift(this.#all.length);
    this.#bump();
  }

  /** Applies a filter. Resolves when all lines are filtered, or a newer filter replaced it. */
  async filter(filter: Filter): Promise<void> {
    this.#filter = filter;
    const pattern = patternOf(filter);
    this.#pattern = pattern instanceof RegExp ? pattern : undefined;
    const generation = ++this.#generation;
    this.#restart();
    this.isFiltering.value = true;
    while (this.#done < this.#all.length) {
      const until = performance.now() + SLICE_MS;
      while (this.#done < this.#all.length && performance.now() < until) {
        this.#sift(this.#done + SLICE_LINES);
      }
      this.#bump();
      if (this.#done < this.#all.length) await breathe();
      if (generation !== this.#generation) return;
    }
    this.isFiltering.value = false;
    this.#bump();
  }

  #restart(): void {
    this.shown = [];
    this.matches = [];
    this.cursor.value = this.opened.value = -1;
    this.folded = 0;
    this.#folder.clear();
    this.#done = 0;
  }

  /** Filters lines up to a position. */
  #sift(to: number): void {
    const end = Math.min(to, this.#all.length);
    for (; this.#done < end; this.#done++) {
      const line = this.#all[this.#done]!;
      const { stream, invert, onlyMatches } = this.#filter;
      if (stream !== "" && line.stream !== stream) continue;
      const isFolded = this.#folder.fold(line, this.#filter.isRaw);
      const matches = this.#pattern && this.#isMatch(line) !== invert;
      // A folded line that matches the search is also shown on its own.
      if (isFolded ? matches && !invert : matches !== false || !onlyMatches) {
        if (matches) this.matches.push(this.shown.length);
        this.shown.push(line);
      } else if (isFolded && !(this.#pattern && onlyMatches)) this.folded++;
    }
  }

  #isMatch({ text }: LogRow): boolean {
    this.#pattern!.lastIndex = 0;
    return this.#pattern!.test(plainLine(text));
  }

  #trim(): void {
    const cut = this.#most / 10;
    const first = this.#all[cut]!.seq;
    this.#all = this.#all.slice(cut);
    this.#done = Math.max(0, this.#done - cut);
    const kept = this.shown.findIndex(({ seq }) => seq >= first);
    const lost = kept < 0 ? this.shown.length : kept;
    const gone = this.shown.slice(0, lost).flatMap(({ trace = [] }) => trace);
    this.folded = Math.max(0, this.folded - gone.length);
    this.shown = this.shown.slice(lost);
    this.matches = this.matches.map((at) => at - lost).filter((at) => at >= 0);
    for (const at of [this.cursor, this.opened]) at.value = Math.max(-1, at.value - lost);
    this.dropped += lost;
  }

  /** Updates `version`, at most once per frame. */
  #bump(): void {
    if (this.#bumped) return;
    this.#bumped = true;
    const notify = () => {
      this.#bumped = false;
      this.version.value++;
    };
    if (document.hidden) setTimeout(notify, 250);
    else requestAnimationFrame(notify);
  }
}

/** Takes the lines of a log. */
export interface LogReceiver {
  add(lines: readonly Omit<LogRow, "seq">[]): void;
  clear(): void;
}

export class LogPane {
  readonly buffer = new LogBuffer();
  /** Name of its app; empty for all apps. */
  readonly target: string;

  constructor(target: string) {
    this.target = target;
  }
}

export class LogPanes implements LogReceiver {
  readonly list: readonly LogPane[];
  /** The column that keys act on. */
  readonly active = signal(0);

  /** One column for each target, or one for all if they are merged. */
  constructor(targets: readonly string[], isParted: boolean) {
    this.list = isParted && targets.length > 1
      ? targets.map((target) => new LogPane(target))
      : [new LogPane("")];
  }

  /** The column that keys act on. */
  get current(): LogPane {
    return this.list[this.active.value] ?? this.list[0]!;
  }

  add(lines: readonly Omit<LogRow, "seq">[]): void {
    if (this.list.length === 1) return this.list[0]!.buffer.add(lines);
    for (const [name, own] of Map.groupBy(lines, ({ name }) => name)) {
      const pane = this.list.find(({ target }) => target === name) ??
        this.list.find(({ target }) => target === baseName(name));
      pane?.buffer.add(own);
    }
  }

  clear(): void {
    for (const { buffer } of this.list) buffer.clear();
  }
}
