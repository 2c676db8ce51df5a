/** Waits for a condition instead of a fixed time. */

import { sleep } from "../../src/platform/clock.ts";

export interface WaitOptions {
  /** Milliseconds; default a minute: nothing fails because a machine is slow. */
  readonly timeoutMs?: number;
  /** The condition as the end of a sentence: `the process to be running`. */
  readonly what?: string | (() => string);
}

const POLL_MS = { first: 10, most: 100 };
/** Pauses are that part of the time waited so far: a check may cost a process, or a scan of all. */
const POLL_PART = 0.1;

/**
 * The most that one check counts towards the timeout, because nothing runs while the machine is
 * suspended.
 */
const MAX_LOOK_MS = 500;

/**
 * Returns when `condition` is true; checks it every 10 ms at first, after a second every 100 ms. A
 * condition that throws counts as false. A timeout error includes the last error that it threw.
 */
export async function waitFor(
  condition: () => unknown | Promise<unknown>,
  { timeoutMs = 60_000, what = String(condition) }: WaitOptions = {},
): Promise<void> {
  let cause: unknown;
  let waitedMs = 0;
  do {
    const since = performance.now();
    try {
      if (await condition()) return;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await sleep(Math.max(POLL_MS.first, Math.min(waitedMs * POLL_PART, POLL_MS.most)));
    waitedMs += Math.min(performance.now() - since, MAX_LOOK_MS);
  } while (waitedMs < timeoutMs);
  const detail = cause === undefined ? "" : `: ${cause instanceof Error ? cause.message : cause}`;
  const wanted = typeof what === "string" ? what : what();
  throw new Error(`Waited ${timeoutMs} ms in vain for ${wanted}${detail}`, { cause });
}

/** Reads texts until they include `wanted`, and returns them; fails when they end before. */
export async function readUntil(
  reader: ReadableStreamDefaultReader<string>,
  wanted: string,
): Promise<string> {
  for (let text = "";;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The end came before ${JSON.stringify(wanted)}, after: ${text}`);
    text += value;
    if (text.includes(wanted)) return text;
  }
}
