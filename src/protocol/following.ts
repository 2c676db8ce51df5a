/** Streams that continue with the next daemon after an upgrade or restart. */

import { hasCode, messageOf } from "../model/errors.ts";
import { sleep } from "../platform/clock.ts";
import type { ShutdownNoticeJson } from "./change_json.ts";
import { DAEMON_PATIENCE_MS } from "./liveness.ts";
import { ndjson } from "./ndjson.ts";

export interface Followed<T> {
  /** Opens the stream, or reopens it where it broke off. */
  readonly open: () => AsyncIterable<T> | Promise<AsyncIterable<T>>;
  /** Called each time the stream is open; `again` is true from the second time. */
  readonly opened?: (again: boolean) => void | Promise<void>;
  /** Called each time the stream breaks off or cannot be opened. */
  readonly lost?: () => void;
  readonly note?: (message: string) => void;
  /** Ends the stream without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Retry forever on any error; the caller reports problems in its own way. */
  readonly forEver?: boolean;
}

/** Delay before reopening the stream; it doubles up to the maximum. */
const RETRY_MS = 50;
const MAX_RETRY_MS = 2000;

/**
 * The objects of an endless stream, across daemons. Throws the error of the first attempt to open it,
 * `closed` if the daemon was shut down, or the error that broke the stream if no daemon comes back.
 */
export async function* following<T extends object>(
  { open, opened, lost, note, signal, forEver = false }: Followed<T>,
): AsyncGenerator<T, void> {
  let again = false;
  let pause = RETRY_MS;
  let failed: { readonly error: unknown; readonly until: number } | undefined;
  let shutdownNotice: ShutdownNoticeJson | undefined;
  let isTold = false;
  const tell = (message: string) => {
    if (!isTold) note?.(message);
    isTold = true;
  };
  while (!signal?.aborted) {
    let isOpen = false;
    try {
      const items = await open();
      isOpen = true;
      await opened?.(again);
      again = true;
      failed = shutdownNotice = undefined;
      isTold = false;
      for await (const item of items) {
        pause = RETRY_MS;
        if (!isShutdownNotice(item)) yield item;
        else if ((shutdownNotice = item).type === "upgrading") {
          tell(`the daemon is being upgraded to version ${shutdownNotice.to}; this continues`);
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
      // After a rotation of the token the next attempt sends the new one.
      const isPassing = isAbsent(error) || (isOpen && hasCode(error, "unauthorized"));
      const mayReturn = again && isPassing && shutdownNotice?.type !== "shutdown";
      if (!forEver && !mayReturn) throw error;
      // Another daemon is often there at once.
      if (again && !isOpen) tell(`${messageOf(error)}; retrying`);
      failed ??= { error, until: performance.now() + DAEMON_PATIENCE_MS };
      if (!forEver && performance.now() > failed.until) throw failed.error;
    }
    lost?.();
    await sleep(pause, signal);
    pause = Math.min(pause * 2, MAX_RETRY_MS);
  }
}

/** The objects of an endless stream of one daemon. Throws `closed` when it ends. */
export async function* unending<T>(stream: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  for await (const { value } of ndjson<T>(stream, true)) yield value;
}

function isShutdownNotice(value: object): value is ShutdownNoticeJson {
  return "type" in value && (value.type === "upgrading" || value.type === "shutdown");
}

function isAbsent(error: unknown): boolean {
  return hasCode(error, "closed", "daemon_unreachable", "host_unreachable");
}
