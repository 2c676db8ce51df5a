/** Data that is polled while it is visible. */

import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Output, Payload, VerbName } from "../../../../protocol/wire.ts";
import { call, messageOf } from "./api.ts";
import { isStale } from "./store.ts";

/** An answer that is kept up to date. */
export interface Polled<T> {
  /** Undefined before the first answer. */
  readonly data: ReadonlySignal<T | undefined>;
  /** Error of the last request; empty if it succeeded. */
  readonly error: ReadonlySignal<string>;
  readonly reload: () => Promise<void>;
}

/** A request is sent again after this time: a broken network may never answer. */
const PATIENCE_MS = 30_000;

/** Interval of the checks whether a request that is sent once must be repeated. */
const ONCE_MS = 5000;

/** Minimum time between requests for a new `key`: a crash loop changes it often. */
const LEAST_MS = 1000;

/**
 * Carries out a verb every `ms` milliseconds (`Infinity`: once) while visible, soon if `key` changes,
 * and at once if a lost connection is back.
 */
export function usePolled<N extends VerbName>(
  verb: N,
  payload: Payload<N>,
  ms: number,
  key: unknown = "",
): Polled<Output<N>> {
  const data = useSignal<Output<N> | undefined>(undefined);
  const error = useSignal("");
  const asking = useRef<Asking | undefined>(undefined);
  const askedAt = useRef(-Infinity);
  const begin = async () => {
    askedAt.current = performance.now();
    const mine: Asking = asking.current = {
      abort: new AbortController(),
      since: Date.now(),
      again: false,
    };
    const { signal } = mine.abort;
    try {
      const answer = await call(verb, payload, signal);
      // The answer may have come just before the abort.
      if (signal.aborted) return;
      data.value = answer;
      error.value = "";
    } catch (reason) {
      if (!signal.aborted) error.value = messageOf(reason);
    }
    if (signal.aborted) return;
    asking.current = undefined;
    if (mine.again) await begin();
  };
  // Wait for a slow answer: a new request for each event might never finish.
  const reload = async () => {
    if (asking.current === undefined) await begin();
    else asking.current.again = true;
  };
  const isLost = isStale.value;
  const question = JSON.stringify([verb, payload]);
  useEffect(() => {
    if (isLost) return;
    void begin();
    const timer = setInterval(() => {
      const { since, abort } = asking.current ?? {};
      // A request that is sent once is repeated only if it failed.
      const isDone = ms === Infinity && since === undefined && error.value === "";
      if (document.hidden || isDone) return;
      if (since !== undefined && Date.now() - since < PATIENCE_MS) return;
      abort?.abort();
      void begin();
    }, ms === Infinity ? ONCE_MS : ms);
    return () => {
      clearInterval(timer);
      asking.current?.abort.abort();
      asking.current = undefined;
    };
  }, [question, ms, isLost]);
  const known = useRef(key);
  useEffect(() => {
    if (known.current === key) return;
    known.current = key;
    if (isLost) return;
    const wait = Math.max(0, askedAt.current + LEAST_MS - performance.now());
    const timer = setTimeout(() => void reload(), wait);
    return () => clearTimeout(timer);
  }, [question, key, isLost]);
  return { data, error, reload };
}

interface Asking {
  readonly abort: AbortController;
  readonly since: number;
  /** A refresh was requested during a request. */
  again: boolean;
}
