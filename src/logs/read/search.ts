/**
 * Searches share the only thread with everything else, so they take turns of a few milliseconds. Other
 * work runs between turns: any number of searches delays a stop by at most one turn.
 */

import { ProcsupError } from "../../model/errors.ts";

const TURN_MS = 3;
const REST_MS = 1;

/** Searches waiting for their turn, and the end of the current turn. */
const waiting: (() => void)[] = [];
let turnEndsAt = 0;

interface SearchLimits {
  /** Total milliseconds of its turns. */
  readonly ms: number;
  /** Total bytes of logs. */
  readonly bytes: number;
}

/** For a search whose caller waits. */
export const SEARCH_LIMITS: SearchLimits = { ms: 10_000, bytes: 4 * 1024 ** 3 };

export class Search {
  #ms: number;
  #bytes: number;
  #isStopped = false;

  /** Without limits it runs until everything is searched. */
  constructor({ ms, bytes }: SearchLimits = { ms: Infinity, bytes: Infinity }) {
    this.#ms = ms;
    this.#bytes = bytes;
  }

  /** Counts bytes to be searched. Throws `timeout` beyond the limit. */
  add(bytes: number): void {
    if ((this.#bytes -= bytes) < 0) throw tooLong();
  }

  /** Runs the work in turns; undefined if stopped. Throws `timeout` beyond the limit. */
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
  return new ProcsupError("timeout", "The search took too long", {
    hint: "Limit it by since, or search for plain text",
  });
}
