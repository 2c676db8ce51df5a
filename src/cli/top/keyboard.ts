/** Reads keys off the terminal. */

import { sleep } from "../../platform/clock.ts";
import { decodeKeys, type Input } from "./key_decoder.ts";

/** What follows an escape character within this time belongs to it. */
const ESCAPE_MS = 40;

/**
 * A terminal that is lent to the shell and taken back may tell of an end that is none. One that is
 * gone tells it again and again.
 */
const ENDS = 10;
const END_PAUSE_MS = 20;

/** Hands on every key, until the terminal is gone. */
export async function readKeys(act: (input: Input) => void): Promise<void> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  let held = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const take = (final: boolean) => {
    const { keys, rest } = decodeKeys(held, final);
    held = rest;
    for (const key of keys) act(key);
  };
  for (let ends = 0; ends < ENDS;) {
    const count = await Deno.stdin.read(buffer).catch(() => null);
    clearTimeout(timer);
    if (count === null) {
      ends++;
      await sleep(END_PAUSE_MS);
      continue;
    }
    ends = 0;
    held += decoder.decode(buffer.subarray(0, count), { stream: true });
    take(false);
    if (held !== "") timer = setTimeout(() => take(true), ESCAPE_MS);
  }
}
