/** Reads keys off the terminal. */

import { decodeKeys, type Input } from "./key_decoder.ts";

/** What follows an escape character within this time belongs to it. */
const ESCAPE_MS = 40;

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
  for (;;) {
    const count = await Deno.stdin.read(buffer);
    clearTimeout(timer);
    if (count === null) return;
    held += decoder.decode(buffer.subarray(0, count), { stream: true });
    take(false);
    if (held !== "") timer = setTimeout(() => take(true), ESCAPE_MS);
  }
}
