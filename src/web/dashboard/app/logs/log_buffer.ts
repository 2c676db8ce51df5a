/**
 * Stores, filters and searches the lines of a log view without blocking the page; and its columns, to
 * which lines are assigned by app.
 */

import { type LogPositions, positionKey } from "../../../../model/log_line.ts";
import { baseName } from "../../../../model/name.ts";
import { signal } from "@preact/signals";
import { plainLine } from "./ansi.ts";
import { type LogQuery, NO_QUERY, patternOf } from "./log_query.ts";
import { Folder, type LogRow, type NewRow } from "./log_lines.ts";

/** Maximum number of lines that a page holds. */
const MAX_LINES = 50_000;

/** Maximum characters of a line that is joined from its pieces. */
const MAX_JOINED = 256 * 1024;

const SLICE_MS = 12;
const SLICE_LINES = 500;

type Filter =
  & Pick<LogQuery, "stream" | "search" | "isRegex" | "matchCase" | "invert">
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
  /** Where the lines end that were removed from the top, by log. */
  lost: LogPositions = {};
  readonly #most: number;
  readonly #folder = new Folder();
  #all: LogRow[] = [];
  #seq = 0;
  /** Lines that are continued, by log. */
  readonly #unfinished = new Map<string, LogRow>();
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

  /** True if there is no room for older lines. */
  get isFull(): boolean {
    return this.#all.length >= this.#most;
  }

  clear(): void {
    this.#all = [];
    this.lost = {};
    this.#unfinished.clear();
    this.#restart();
    this.#bump();
  }

  add(lines: readonly NewRow[]): void {
    let isJoined = false;
    for (const line of lines) {
      const key = positionKey(line);
      const begun = this.#unfinished.get(key);
      this.#unfinished.delete(key);
      // A line without an end cannot fill the memory of the page.
      if (begun !== undefined && begun.text.length < MAX_JOINED) {
        join(begun, line);
        isJoined = true;
        if (line.partial) this.#unfinished.set(key, begun);
        continue;
      }
      const row = { ...line, seq: this.#seq++ };
      if (line.partial) this.#unfinished.set(key, row);
      this.#all.push(row);
    }
    // Another array: all rows are measured again.
    if (isJoined) this.shown = [...this.shown];
    if (this.#all.length > this.#most) this.#trim();
    if (this.isFiltering.value) return;
    this.#sift(this.#all.length);
    this.#bump();
  }

  /** Adds older lines at the top. */
  prepend(lines: readonly NewRow[]): void {
    this.lost = {};
    const first = (this.#all[0]?.seq ?? 0) - lines.length;
    this.#all = [...lines.map((line, index) => ({ ...line, seq: first + index })), ...this.#all];
    const selected = [this.cursor, this.opened].map((at) => this.shown[at.value]?.seq);
    const count = this.shown.length;
    this.#restart();
    this.#sift(this.#all.length);
    this.dropped -= this.shown.length - count;
    [this.cursor, this.opened].forEach((at, index) =>
      at.value = this.shown.findIndex(({ seq }) => seq === selected[index])
    );
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
      const { stream, invert } = this.#filter;
      if (stream !== "" && line.stream !== stream) continue;
      const isFolded = this.#folder.fold(line, this.#filter.isRaw);
      const matches = this.#pattern && this.#isMatch(line) !== invert;
      // A folded line that matches the search is also shown on its own.
      if (!isFolded || (matches && !invert)) {
        if (matches) this.matches.push(this.shown.length);
        this.shown.push(line);
      } else this.folded++;
    }
  }

  #isMatch({ text }: LogRow): boolean {
    this.#pattern!.lastIndex = 0;
    return this.#pattern!.test(plainLine(text));
  }

  #trim(): void {
    const cut = this.#most / 10;
    const ends = this.#all.slice(0, cut).map((line) => [positionKey(line), line.end]);
    this.lost = { ...this.lost, ...Object.fromEntries(ends) };
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

const encoder = new TextEncoder();

/** Adds a piece to the line that it continues. Of a long line only the beginning is kept. */
function join(begun: LogRow, { text, end, start }: NewRow): void {
  if (begun.start === undefined && start === undefined) begun.text += text;
  else begun.start ??= begun.end - encoder.encode(begun.text).length;
  begun.end = end;
}

/** Takes the lines of a log. */
export interface LogReceiver {
  add(lines: readonly NewRow[]): void;
  /** Adds older lines at the top. */
  prepend(lines: readonly NewRow[]): void;
  clear(): void;
  /** Where the lines end that it removed from the top, by log. */
  readonly lost: LogPositions;
  /** True if it has no room for older lines. */
  readonly isFull: boolean;
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

  add(lines: readonly NewRow[]): void {
    this.#part(lines, (buffer, own) => buffer.add(own));
  }

  prepend(lines: readonly NewRow[]): void {
    this.#part(lines, (buffer, own) => buffer.prepend(own));
  }

  #part(
    lines: readonly NewRow[],
    give: (buffer: LogBuffer, own: readonly NewRow[]) => void,
  ): void {
    if (this.list.length === 1) return give(this.list[0]!.buffer, lines);
    for (const [name, own] of Map.groupBy(lines, ({ name }) => name)) {
      const pane = this.list.find(({ target }) => target === name) ??
        this.list.find(({ target }) => target === baseName(name));
      if (pane !== undefined) give(pane.buffer, own);
    }
  }

  clear(): void {
    for (const { buffer } of this.list) buffer.clear();
  }

  get lost(): LogPositions {
    return Object.assign({}, ...this.list.map(({ buffer }) => buffer.lost));
  }

  get isFull(): boolean {
    return this.list.some(({ buffer }) => buffer.isFull);
  }
}
