/** The lines of a log view: kept, filtered and searched without holding up the page. */

import { signal } from "@preact/signals";
import { plainLine } from "./ansi.ts";
import type { LogStream } from "../../../../model/log_line.ts";
import { type LogQuery, NO_QUERY, patternOf } from "./log_query.ts";

/** One line. */
export interface LogRow {
  /** Grows by one a line. */
  readonly seq: number;
  readonly name: string;
  readonly stream: LogStream;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** As the app wrote it. */
  readonly text: string;
}

/** Most lines that are kept; a chromium element cannot be much higher than their sum. */
const MAX_LINES = 1_200_000;

const SLICE_MS = 12;
const SLICE_LINES = 500;

type Filter = Pick<
  LogQuery,
  "stream" | "search" | "isRegex" | "matchCase" | "invert" | "onlyMatches"
>;

/** Lets the page draw and answer before the work goes on. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Lines, and those of them that are shown. */
export class LogBuffer {
  /** Grows whenever `shown` or `matches` changed. */
  readonly version = signal(0);
  /** Whether a changed filter is still being applied. */
  readonly isFiltering = signal(false);
  /** Lines that pass the filter. */
  shown: LogRow[] = [];
  /** Positions in `shown` of lines that are searched for. */
  matches: number[] = [];
  /** How many lines were taken off the top of `shown` so far. */
  dropped = 0;
  #all: LogRow[] = [];
  #seq = 0;
  #filter: Filter = NO_QUERY;
  #pattern: RegExp | undefined;
  #generation = 0;
  #done = 0;
  #bumped = false;

  /** How many lines are kept. */
  get size(): number {
    return this.#all.length;
  }

  /** Forgets all lines. */
  clear(): void {
    this.#all = [];
    this.shown = [];
    this.matches = [];
    this.#done = 0;
    this.#bump();
  }

  /** Adds lines at the end. */
  add(lines: readonly Omit<LogRow, "seq">[]): void {
    for (const line of lines) this.#all.push({ ...line, seq: this.#seq++ });
    if (this.#all.length > MAX_LINES) this.#trim();
    if (this.isFiltering.value) return;
    this.#sift(this.#all.length);
    this.#bump();
  }

  /** Applies another filter; ends when all lines went through it, or when a newer one came. */
  async filter(filter: Filter): Promise<void> {
    this.#filter = filter;
    this.#pattern = patternOf(filter) ?? undefined;
    const generation = ++this.#generation;
    this.shown = [];
    this.matches = [];
    this.#done = 0;
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

  /** Puts lines through the filter, up to a position. */
  #sift(to: number): void {
    const end = Math.min(to, this.#all.length);
    for (; this.#done < end; this.#done++) {
      const line = this.#all[this.#done]!;
      const { stream, invert, onlyMatches } = this.#filter;
      if (stream !== "" && line.stream !== stream) continue;
      if (this.#pattern !== undefined) {
        this.#pattern.lastIndex = 0;
        const matches = this.#pattern.test(plainLine(line.text)) !== invert;
        if (matches) this.matches.push(this.shown.length);
        else if (onlyMatches) continue;
      }
      this.shown.push(line);
    }
  }

  #trim(): void {
    const cut = MAX_LINES / 10;
    const first = this.#all[cut]!.seq;
    this.#all = this.#all.slice(cut);
    this.#done = Math.max(0, this.#done - cut);
    const gone = this.shown.findIndex(({ seq }) => seq >= first);
    const lost = gone < 0 ? this.shown.length : gone;
    this.shown = this.shown.slice(lost);
    this.matches = this.matches.map((at) => at - lost).filter((at) => at >= 0);
    this.dropped += lost;
  }

  /** Once a frame is enough. */
  #bump(): void {
    if (this.#bumped) return;
    this.#bumped = true;
    const tell = () => {
      this.#bumped = false;
      this.version.value++;
    };
    if (document.hidden) setTimeout(tell, 250);
    else requestAnimationFrame(tell);
  }
}
