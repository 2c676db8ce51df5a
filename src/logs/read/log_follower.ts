/** Reads a log to its end or, while following, on through rotation, truncation and replacement. */

import { type Cancel, type Clock, systemClock } from "../../platform/clock.ts";
import { FileWatch, watchedPath } from "../../platform/files/file_watch.ts";
import { type Gap, LogCursor, type Span } from "./log_cursor.ts";

/** Chooses the start position once the file is open. It may use `cursor` to search. */
export type Begin = (span: Span, cursor: LogCursor) => number | Promise<number>;

/** Time between checks of a file that cannot be watched, and between reads of one that keeps growing. */
const POLL_MS = 200;

/** Time between checks of a watched file: inotify does not report writes through a memory map. */
const WATCHED_MS = 10_000;

/** How a log is read. */
interface FollowerOptions {
  readonly follow: boolean;
  readonly begin: Begin;
  readonly pollMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** The result of `next()` is valid until `giveBack()`. */
  readonly lends?: boolean;
}

export class LogFollower {
  readonly #cursor: LogCursor;
  readonly #clock: Clock;
  readonly #pollMs: number;
  #begin: Begin | undefined;
  /** The path leads to another file now: read this one to its end, then close it. */
  #replaced = false;
  #stopped = false;
  #wake: (() => void) | undefined;
  #watchedPath: Uint8Array<ArrayBuffer>;
  #watch: FileWatch | undefined;
  /** Cancels the watch for a change. */
  #unwatch: Cancel | undefined;
  /** True if the file changed since the watch began. */
  #changed = false;
  #onChange = () => {};
  #readAt = -Infinity;
  /** Whether to wait for more output at the end. */
  #follow: boolean;
  /** Whether to stop at the end that the file had when it was opened. */
  #isBounded: boolean;

  constructor(
    path: string,
    { follow, begin, pollMs = POLL_MS, clock = systemClock, lends = false }: FollowerOptions,
  ) {
    this.#cursor = new LogCursor(path, lends, clock);
    this.#watchedPath = watchedPath(path);
    this.#clock = clock;
    this.#pollMs = pollMs;
    this.#begin = begin;
    this.#follow = follow;
    this.#isBounded = !follow;
  }

  /** Position after the last byte read. */
  get position(): number {
    return this.#cursor.position;
  }

  /** Maximum size of the chunks that are read from now on. */
  set blockBytes(bytes: number) {
    this.#cursor.blockBytes = bytes;
  }

  /** Identifies the file that is read. */
  get inode(): string {
    return this.#cursor.inode;
  }

  /** See `LogCursor.gap`. */
  get gap(): Gap | undefined {
    return this.#cursor.gap;
  }

  /** The same, once. */
  takeGap(): Gap | undefined {
    const { gap } = this.#cursor;
    this.#cursor.gap = undefined;
    return gap;
  }

  /** Whether the start position has been determined. */
  get hasBegun(): boolean {
    return this.#begin === undefined;
  }

  get isOpen(): boolean {
    return this.#cursor.isOpen;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** The next bytes; undefined at the end, once stopped, or after `silenceMs` without any. */
  async next(silenceMs?: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const begun = this.#clock.steady();
    while (!this.#stopped) {
      // Only a read that begins after `finish()` finds all that was written before it.
      const isLast = !this.#follow;
      if (this.#cursor.isOpen || await this.#open()) {
        const chunk = await this.#cursor.read();
        if (chunk !== undefined) {
          this.#readAt = this.#clock.steady();
          return chunk;
        }
      }
      if (isLast) return undefined;
      // Watch before checking, so that no later write is missed.
      this.#watchFile();
      if (this.#stopped || await this.#hasMore()) continue;
      // `stop()` or `finish()` may have been called during the check.
      if (this.#stopped || !this.#follow) continue;
      const left = silenceMs === undefined ? Infinity : begun + silenceMs - this.#clock.steady();
      if (left <= 0) return undefined;
      await this.#wait(left);
    }
    return undefined;
  }

  /** The log was moved, open file included. */
  moved(path: string): void {
    this.#cursor.moved(path);
    this.#watchedPath = watchedPath(path);
  }

  /** Returns the lent buffer. */
  giveBack(): void {
    this.#cursor.giveBack();
  }

  /** Continues at the position of another reader of the same log. */
  skipTo(position: number, inode: string): void {
    this.#replaced = false;
    if (this.#cursor.isOpen && this.#cursor.inode === inode) {
      this.#cursor.position = position;
    } else {
      this.#cursor.close();
      this.#begin = () => position;
    }
  }

  /** Continues after the end that the file had when it was opened. */
  follow(): void {
    this.#follow = true;
    this.#isBounded = false;
    this.#cursor.end = Infinity;
  }

  /** Stops following: reading ends at the current end of the file. */
  finish(): void {
    this.#follow = false;
    this.#cursor.endHere();
    this.#wake?.();
  }

  /** Makes `next()` return soon. */
  stop(): void {
    this.#stopped = true;
    this.#wake?.();
  }

  /** Closes the file. Do not call it during `next()`. */
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
    if (this.#isBounded) this.#cursor.end = span.end;
    this.#cursor.position = begin === undefined ? span.base : await begin(span, this.#cursor);
    return true;
  }

  /** At the end of the file: whether to read on at once. */
  async #hasMore(): Promise<boolean> {
    const found = await this.#cursor.look();
    // Missing means deleted, but a program may still write to the open file.
    if (found !== "replaced") {
      if (found !== "missing") this.#replaced = false;
      return found === "grown" || found === "truncated";
    }
    if (this.#replaced) this.#cursor.close();
    // Read the old file to its end once more: it may have grown before it was replaced.
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

  /** Waits until the file changes or the next check is due. */
  #wait(mostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const isWatched = this.#unwatch !== undefined;
      const everyMs = isWatched ? Math.max(WATCHED_MS, this.#pollMs) : this.#pollMs;
      const checkMs = Math.min(everyMs, mostMs);
      const over = () => {
        cancel();
        // A change that comes later must not set a timer for a wait that is over.
        this.#onChange = () => {};
        this.#wake = undefined;
        resolve();
      };
      let cancel = this.#clock.after(checkMs, over);
      this.#onChange = () => {
        cancel();
        const since = this.#clock.steady() - this.#readAt;
        cancel = this.#clock.after(Math.max(0, this.#pollMs - since), over);
      };
      this.#wake = over;
      if (this.#changed) this.#onChange();
    });
  }
}
