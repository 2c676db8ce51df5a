/** Streams that continue with the next daemon after an upgrade or restart. */

import { hasCode, type ProcsupError } from "../model/errors.ts";
import { sleep } from "../platform/clock.ts";
import type { ShutdownNoticeJson } from "./change_json.ts";
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
  readonly signal?: AbortSignal;
  /** Retry forever on any error; the caller reports problems in its own way. */
  readonly forEver?: boolean;
}

/**
 * How long to wait for the next daemon: after an announced upgrade, on another machine that is out of
 * reach, and otherwise.
 */
const UPGRADE_MS = 30_000;
const MACHINE_MS = 60_000;
const RESTART_MS = 10_000;

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
  while (!signal?.aborted) {
    let shutdownNotice: ShutdownNoticeJson | undefined;
    let isOpen = false;
    try {
      const items = await open();
      isOpen = true;
      await opened?.(again);
      again = true;
      failed = undefined;
      for await (const item of items) {
        pause = RETRY_MS;
        if (!isShutdownNotice(item)) yield item;
        else if ((shutdownNotice = item).type === "upgrading") {
          note?.(`the daemon is being upgraded to version ${shutdownNotice.to}; this continues`);
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
      // After a rotation of the token the next attempt sends the new one.
      const isPassing = isAbsent(error) || (isOpen && hasCode(error, "unauthorized"));
      const mayReturn = again && isPassing && shutdownNotice?.type !== "shutdown";
      if (!forEver && !mayReturn) throw error;
      if (again && failed === undefined && isOutOfReach(error)) {
        note?.(`${error.message}; retrying`);
      }
      failed ??= { error, until: performance.now() + patience(error, shutdownNotice) };
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

function patience(error: unknown, shutdownNotice: ShutdownNoticeJson | undefined): number {
  if (shutdownNotice !== undefined) return UPGRADE_MS;
  return isOutOfReach(error) ? MACHINE_MS : RESTART_MS;
}

function isShutdownNotice(value: object): value is ShutdownNoticeJson {
  return "type" in value && (value.type === "upgrading" || value.type === "shutdown");
}

function isAbsent(error: unknown): boolean {
  return isOutOfReach(error) || hasCode(error, "closed", "daemon_unreachable");
}

function isOutOfReach(error: unknown): error is ProcsupError {
  return hasCode(error, "host_unreachable");
}
