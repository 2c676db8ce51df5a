/** Streams of the daemon that go on with the next one when it is upgraded or restarted. */

import { ProcsupError } from "../model/errors.ts";
import type { FarewellJson } from "../protocol/change_json.ts";
import { ndjson } from "../protocol/ndjson.ts";

/** What is followed. */
export interface Followed {
  /** Opens the stream, and opens it again from where it broke off. */
  readonly open: () => Promise<ReadableStream<Uint8Array>>;
  readonly note: (message: string) => void;
}

/** How long the next daemon may take: one that was announced, and one that may or may not come. */
const ANNOUNCED_MS = 30_000;
const HOPED_FOR_MS = 10_000;

const ASK_EVERY_MS = 50;

/**
 * Every object of a stream that never ends, over any number of daemons. Throws `closed` when the
 * daemon was shut down, or has gone and none comes, and whatever else opening it throws.
 */
export async function* following<T extends object>(
  { open, note }: Followed,
): AsyncGenerator<T, never> {
  let stream = await open();
  for (;;) {
    let patienceMs = HOPED_FOR_MS;
    try {
      for await (const { value } of ndjson<T | FarewellJson>(stream, true)) {
        if (!isFarewell(value)) yield value;
        else if (value.type === "upgrading") {
          patienceMs = ANNOUNCED_MS;
          note(`the daemon is being upgraded to version ${value.to}; this goes on`);
        } else patienceMs = 0;
      }
    } catch (error) {
      if (!isAbsent(error) || patienceMs === 0) throw error;
      stream = await reopened(open, patienceMs, error);
    }
  }
}

async function reopened<T>(open: () => Promise<T>, patienceMs: number, gone: Error): Promise<T> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    try {
      return await open();
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }
  throw gone;
}

function isFarewell(value: object): value is FarewellJson {
  return "type" in value && (value.type === "upgrading" || value.type === "shutdown");
}

function isAbsent(error: unknown): error is ProcsupError {
  return error instanceof ProcsupError &&
    (error.code === "closed" || error.code === "daemon_unreachable");
}
