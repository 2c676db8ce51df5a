/** Reads a log to its end and, if told to, on and on: over rotations, truncations and replacements. */

import type { Cancel } from "../platform/clock.ts";
import { FileWatch, watchedPath } from "../platform/file_watch.ts";
import { LogCursor, type Span } from "./log_cursor.ts";

/** The position to begin at, once the file is open; `cursor` may be used to look for it. */
export type Begin = (span: Span, cursor: LogCursor) => number | Promise<number>;

/** Between two looks at a file that cannot be watched, and two reads of one that keeps growing. */
const POLL_MS = 200;

/** Between two looks at a watched file: inotify does not report writes to a memory map. */
const WATCHED_MS = 10_000;

/** One reader of one log. */
export class LogFollower {
  readonly #cursor: LogCursor;
  readonly #pollMs: number;
  #begin: Begin | undefined;
  /** Another file has the path by now: this one is read to its end and given up. */
  #replaced = false;
  #stopped = false;
  #wake: (() => void) | undefined;
  readonly #watchedPath: Uint8Array<ArrayBuffer>;
  #watch: FileWatch | undefined;
  /** Ends the watch that waits for a change. */
  #unwatch: Cancel | undefined;
  /** It has changed since it was watched. */
  #changed = false;
  #onChange = () => {};
  #readAt = -Infinity;
  /** Whether to go on after the end. The file's end at its opening counts as long as it is false. */
  follow: boolean;

  /** With `lends`, what `next()` gives is good until `giveBack()`. */
  constructor(
    path: string,
    options: { follow: boolean; pollMs?: number; begin: Begin; lends?: boolean },
  ) {
    this.#cursor = new LogCursor(path, options.lends);
    this.#watchedPath = watchedPath(path);
    this.#pollMs = options.pollMs ?? POLL_MS;
    this.#begin = options.begin;
    this.follow = options.follow;
  }

  /** Position after what was read. */
  get position(): number {
    return this.#cursor.position;
  }

  /** Which file is read. */
  get inode(): string {
    return this.#cursor.inode;
  }

  /** Whether it has looked for its place already. */
  get hasBegun(): boolean {
    return this.#begin === undefined;
  }

  /** Whether the file is open. */
  get isOpen(): boolean {
    return this.#cursor.isOpen;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** The next bytes; undefined at the end, or when it was stopped. */
  async next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.follow) this.#cursor.end = Infinity;
    while (!this.#stopped) {
      // What was written before it was finished is found by a read that begins after that.
      const isLast = !this.follow;
      if (this.#cursor.isOpen || await this.#open()) {
        const chunk = await this.#cursor.read();
        if (chunk !== undefined) {
          this.#readAt = performance.now();
          return chunk;
        }
      }
      if (isLast) return undefined;
      // Before the look: what is written after it is an event.
      this.#watchFile();
      if (this.#stopped || await this.#hasMore()) continue;
      // `stop()` or `finish()` may have been called during the look.
      if (!this.#stopped && this.follow) await this.#wait();
    }
    return undefined;
  }

  /** What was lent is not looked at any more. */
  giveBack(): void {
    this.#cursor.giveBack();
  }

  /** Goes on at a place that another reader of the same log has come to. */
  skipTo(position: number, inode: string): void {
    this.#replaced = false;
    if (this.#cursor.isOpen && this.#cursor.inode === inode) {
      this.#cursor.position = position;
    } else {
      this.#cursor.close();
      this.#begin = () => position;
    }
  }

  /** Goes on to the end of what is there, and no further. */
  finish(): void {
    this.follow = false;
    this.#wake?.();
  }

  /** Makes `next()` return soon. */
  stop(): void {
    this.#stopped = true;
    this.#wake?.();
  }

  /** Closes the file; no `next()` may be under way. */
  close(): void {
    this.#cursor.close();
    this.#watch?.[Symbol.dispose]();
    this.#watch = undefined;
    this.#unwatch = undefined;
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
    // Missing: deleted, but a program that has it open may still write to it.
    if (found !== "replaced") {
      if (found !== "missing") this.#replaced = false;
      return found === "grown" || found === "truncated";
    }
    if (this.#replaced) this.#cursor.close();
    // Once more to the old one's end, which may have grown before it was replaced.
    this.#replaced = this.#cursor.isOpen && !this.#replaced;
    return true;
  }

  #watchFile(): void {
    if (this.#unwatch !== undefined) return;
    this.#changed = false;
    this.#watch ??= new FileWatch();
    this.#unwatch = this.#watch.once(this.#watchedPath, () => {
      this.#unwatch = undefined;
      this.#changed = true;
      this.#onChange();
    });
  }

  /** Until the file changes, or it is time for a look. */
  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const isWatched = this.#unwatch !== undefined;
      let timer = setTimeout(
        resolve,
        isWatched ? Math.max(WATCHED_MS, this.#pollMs) : this.#pollMs,
      );
      this.#onChange = () => {
        clearTimeout(timer);
        const since = performance.now() - this.#readAt;
        timer = setTimeout(resolve, Math.max(0, this.#pollMs - since));
      };
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#changed) this.#onChange();
    });
  }
}
