/** Streams that go on with the next daemon when it is upgraded or restarted. */

import { ProcsupError } from "../model/errors.ts";
import { sleep } from "../platform/clock.ts";
import type { FarewellJson } from "./change_json.ts";
import { ndjson } from "./ndjson.ts";

/** What is followed. */
export interface Followed<T> {
  /** Opens the stream, and opens it again from where it broke off. */
  readonly open: () => AsyncIterable<T> | Promise<AsyncIterable<T>>;
  /** Called each time the stream is open; `again` from the second time on. */
  readonly opened?: (again: boolean) => void | Promise<void>;
  /** Called each time it cannot be opened, or breaks off. */
  readonly lost?: () => void;
  readonly note?: (message: string) => void;
  /** Ends it without an error. */
  readonly signal?: AbortSignal;
  /** Never give up, whatever the error: the caller shows by other means what is wrong. */
  readonly forEver?: boolean;
}

/** How long the next daemon may take: after an upgrade, on a machine out of reach, and otherwise. */
const UPGRADE_MS = 30_000;
const MACHINE_MS = 60_000;
const RESTART_MS = 10_000;

/** Pause before the stream is opened again, and its growth. */
const RETRY_MS = 50;
const MAX_RETRY_MS = 2000;

/**
 * Every object of a stream that never ends, over any number of daemons. Throws what the first attempt to
 * open it throws, `closed` when the daemon was shut down, and what broke it off when no daemon comes.
 */
export async function* following<T extends object>(
  { open, opened, lost, note, signal, forEver = false }: Followed<T>,
): AsyncGenerator<T, void> {
  let again = false;
  let pause = RETRY_MS;
  let failed: { readonly error: unknown; readonly until: number } | undefined;
  while (!signal?.aborted) {
    let farewell: FarewellJson | undefined;
    try {
      const items = await open();
      await opened?.(again);
      again = true;
      failed = undefined;
      for await (const item of items) {
        pause = RETRY_MS;
        if (!isFarewell(item)) yield item;
        else if ((farewell = item).type === "upgrading") {
          note?.(`the daemon is being upgraded to version ${farewell.to}; this goes on`);
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
      const mayReturn = again && isAbsent(error) && farewell?.type !== "shutdown";
      if (!forEver && !mayReturn) throw error;
      if (again && failed === undefined && isOutOfReach(error)) {
        note?.(`${error.message}; retrying`);
      }
      failed ??= { error, until: performance.now() + patience(error, farewell) };
      if (!forEver && performance.now() > failed.until) throw failed.error;
    }
    lost?.();
    await sleep(pause, signal);
    pause = Math.min(pause * 2, MAX_RETRY_MS);
  }
}

/** The objects of a daemon's stream that never ends. Throws `closed` when it does. */
export async function* unending<T>(stream: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  for await (const { value } of ndjson<T>(stream, true)) yield value;
}

function patience(error: unknown, farewell: FarewellJson | undefined): number {
  if (farewell !== undefined) return UPGRADE_MS;
  return isOutOfReach(error) ? MACHINE_MS : RESTART_MS;
}

function isFarewell(value: object): value is FarewellJson {
  return "type" in value && (value.type === "upgrading" || value.type === "shutdown");
}

function isAbsent(error: unknown): boolean {
  return isOutOfReach(error) || (error instanceof ProcsupError &&
    (error.code === "closed" || error.code === "daemon_unreachable"));
}

function isOutOfReach(error: unknown): error is ProcsupError {
  return error instanceof ProcsupError && error.code === "host_unreachable";
}
