/**
 * Searches share the one thread that everything else runs on. So they take turns, each of a few
 * milliseconds, and between two turns everything else that waits is done: one search or a hundred
 * delay a stop by no more than a turn.
 */

import { ProcsupError } from "../model/errors.ts";

const TURN_MS = 3;
const REST_MS = 1;

/** The searches whose turn has not come, and when the turn under way ends. */
const waiting: (() => void)[] = [];
let turnEndsAt = 0;

/** How much one search may do. */
export interface SearchLimits {
  /** Milliseconds of its turns together. */
  readonly ms: number;
  /** Bytes of logs. */
  readonly bytes: number;
}

/** For a search that somebody waits for. */
export const SEARCH_LIMITS: SearchLimits = { ms: 10_000, bytes: 4 * 1024 ** 3 };

/** One search, through one log or several. */
export class Search {
  #ms: number;
  #bytes: number;
  #isStopped = false;

  /** Without limits it goes on as long as there is something to search. */
  constructor({ ms, bytes }: SearchLimits = { ms: Infinity, bytes: Infinity }) {
    this.#ms = ms;
    this.#bytes = bytes;
  }

  /** Counts what is searched next. Throws `timeout` when it is too much. */
  add(bytes: number): void {
    if ((this.#bytes -= bytes) < 0) throw tooLong();
  }

  /**
   * Does the work, a turn at a time; undefined when it was stopped. Throws `timeout` when it has had
   * its time.
   */
  async run<T>(work: Generator<void, T>): Promise<T | undefined> {
    if (waiting.length > 0) await turn();
    while (!this.#isStopped) {
      const now = performance.now();
      if (now >= turnEndsAt) {
        await turn();
        continue;
      }
      const { done, value } = work.next();
      if (done) return value;
      if ((this.#ms -= performance.now() - now) < 0) throw tooLong();
    }
    return undefined;
  }

  /** Makes `run()` return soon, now and later. */
  stop(): void {
    this.#isStopped = true;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setTimeout(nextTurn, REST_MS);
  });
}

function nextTurn(): void {
  turnEndsAt = performance.now() + TURN_MS;
  waiting.shift()!();
  if (waiting.length > 0) setTimeout(nextTurn, REST_MS);
}

function tooLong(): ProcsupError {
  return new ProcsupError("timeout", "The search was ended: it took too long", {
    hint: "Narrow it down by a time (since), or search for plain text",
  });
}
