/** Reads a log to its end and, if told to, on and on: over rotations, truncations and replacements. */

import { LogCursor } from "./log_cursor.ts";

/** Where a log's file begins and ends. */
export interface Span {
  readonly base: number;
  readonly end: number;
}

/** The position to begin at, once the file is open; `cursor` may be used to look for it. */
export type Begin = (span: Span, cursor: LogCursor) => number | Promise<number>;

/** One reader of one log. */
export class LogFollower {
  readonly #cursor: LogCursor;
  readonly #pollMs: number;
  #begin: Begin | undefined;
  /** Another file has the path by now: this one is read to its end and given up. */
  #replaced = false;
  #stopped = false;
  #wake: (() => void) | undefined;
  /** Whether to go on after the end. The file's end at its opening counts as long as it is false. */
  follow: boolean;

  constructor(path: string, options: { follow: boolean; pollMs: number; begin: Begin }) {
    this.#cursor = new LogCursor(path);
    this.#pollMs = options.pollMs;
    this.#begin = options.begin;
    this.follow = options.follow;
  }

  /** Position after what was read. */
  get position(): number {
    return this.#cursor.position;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** The next bytes; undefined at the end, or when it was stopped. */
  async next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.follow) this.#cursor.end = Infinity;
    while (!this.#stopped) {
      if (this.#cursor.isOpen || await this.#open()) {
        const chunk = await this.#cursor.read();
        if (chunk !== undefined) return chunk;
      }
      if (!this.follow) return undefined;
      if (!this.#stopped && !(await this.#hasMore())) await this.#wait();
    }
    return undefined;
  }

  /** Makes `next()` return soon. */
  stop(): void {
    this.#stopped = true;
    this.#wake?.();
  }

  /** Closes the file; no `next()` may be under way. */
  close(): void {
    this.#cursor.close();
  }

  async #open(): Promise<boolean> {
    const begin = this.#begin;
    this.#begin = undefined;
    const span = await this.#cursor.open();
    if (span === undefined) return false;
    if (!this.follow) this.#cursor.end = span.end;
    this.#cursor.position = begin === undefined ? span.base : await begin(span, this.#cursor);
    return true;
  }

  /** At the end of the file: whether a look at the path shows a reason to read on at once. */
  async #hasMore(): Promise<boolean> {
    const found = await this.#cursor.look();
    // Missing: deleted, but whoever has it open may still write to it.
    if (found !== "replaced") {
      if (found !== "missing") this.#replaced = false;
      return found === "grown";
    }
    if (this.#replaced) this.#cursor.close();
    // Once more to the old one's end, which may have grown before it was replaced.
    this.#replaced = this.#cursor.isOpen && !this.#replaced;
    return true;
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#pollMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
