/** Tasks in turns, a few at a time, until an abort or a time limit; inputs of an actor one by one. */

import { type DurationInput, formatDuration, parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import { systemClock } from "./clock.ts";

/** Runs tasks one at a time, in order: all of them, or those of the same key. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Whether a task of a key runs or waits. */
  isTaken(key: string): boolean {
    return this.#last.has(key);
  }

  /** Runs a task after all earlier ones of its key have ended, even if they failed. */
  take<T>(act: () => Promise<T>, key = ""): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const turn = before.then(act, act);
    this.#last.set(key, turn);
    const forget = () => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    turn.then(forget, forget);
    return turn;
  }
}

/** Calls `act` for each item, `most` at a time; returns the results in the order of the items. */
export async function fewAtATime<I, T>(
  most: number,
  items: readonly I[],
  act: (item: I) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  const rest = items.entries();
  const work = async () => {
    for (const [index, item] of rest) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work));
  return results;
}

/** The awaited value, or undefined as soon as the signal aborts. */
export async function orAborted<T>(
  awaited: Promise<T> | T,
  signal: AbortSignal,
): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = () => aborted.resolve(undefined);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([awaited, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * The result of `work`; throws the signal's reason as soon as it aborts. Does not start `work` if
 * it is already aborted. Started work runs to its end.
 */
export async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (signal === undefined) return await work();
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    const done = work();
    // Nothing awaits it after an abort: its rejection must not count as unhandled.
    done.catch(() => {});
    return await Promise.race([done, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Calls `act` with a signal that aborts with `signal`'s reason or, after `timeout`, with a `timeout`
 * error: `${what} within 5s`.
 */
export async function withinTime<T>(
  what: string,
  timeout: DurationInput | undefined,
  signal: AbortSignal | undefined,
  act: (over: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (timeout === undefined) return await act(signal);
  const late = new AbortController();
  const ms = parseDuration(timeout);
  const cancel = systemClock.after(
    ms,
    () => late.abort(new ProcsupError("timeout", `${what} within ${formatDuration(ms)}`)),
  );
  try {
    return await act(signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]));
  } finally {
    cancel();
  }
}

/** An ordered queue of inputs, handled one at a time: an input posted by a handler waits its turn. */
export class Mailbox<E> {
  readonly #queue: E[] = [];
  readonly #handle: (input: E) => void;
  #busy = false;

  constructor(handle: (input: E) => void) {
    this.#handle = handle;
  }

  /** Handles the input before it returns, unless another one is being handled. */
  post(input: E): void {
    this.#queue.push(input);
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        this.#handle(next);
      }
    } finally {
      this.#busy = false;
    }
  }
}
