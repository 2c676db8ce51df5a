/** Sends events to all listeners. Without listeners it costs nothing after the first seconds. */

import { messageOf } from "../model/errors.ts";
import type { ChangeType, ProcessChange } from "../model/process_info.ts";
import type { ManagedProcess } from "../process/managed_process.ts";

/** The first events are kept for this long, for clients of the previous daemon that reconnect. */
const KEPT_MS = 10_000;
const MAX_KEPT = 1000;

/** Events that may wait for a slow reader before it is dropped. */
const MAX_WAITING = 10_000;

type EventListener = (process: ManagedProcess, change: ProcessChange) => void;

export class EventHub {
  readonly #listeners = new Set<(change: ProcessChange) => void>();
  readonly #closers = new Set<() => void>();
  readonly #openedAt = performance.now();
  readonly #warn: (message: string) => void;
  readonly #happened: EventListener;
  #kept: ProcessChange[] | undefined = [];

  /** `happened` is called with each event of a process, also while the hub is idle. */
  constructor(warn: (message: string) => void = () => {}, happened: EventListener = () => {}) {
    this.#warn = warn;
    this.#happened = happened;
  }

  /** True if events are neither received nor kept. */
  get idle(): boolean {
    return this.#listeners.size === 0 && !this.#keeps();
  }

  /** Sends an event to all listeners. */
  publish(change: ProcessChange): void {
    if (this.#keeps()) this.#kept!.push(change);
    for (const listener of [...this.#listeners]) listener(change);
  }

  /** Publishes an event of a process; `reason`: default that of its state. */
  publishOf(
    process: ManagedProcess,
    type: ChangeType,
    { reason = process.snapshot.lastReason, ...more }: Partial<
      Pick<ProcessChange, "reason" | "by" | "cause" | "alert">
    > = {},
  ): void {
    const { snapshot: { state, pid, restarts, lastExit }, identity: { id }, name } = process;
    const at = new Date(process.machine.world.clock.now());
    const change = { type, at, id, name, state, pid, restarts, reason, exit: lastExit, ...more };
    callListener(() => this.publish(change), this.#warn);
    this.#happened(process, change);
  }

  /** Calls `listener` with each new event. Returns an unsubscribe function. */
  listen(listener: (change: ProcessChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #keeps(): boolean {
    if (this.#kept === undefined) return false;
    const over = performance.now() - this.#openedAt > KEPT_MS || this.#kept.length >= MAX_KEPT;
    if (over) this.#kept = undefined;
    return !over;
  }

  /**
   * Streams kept events after `since`, in milliseconds since the epoch, then new events, until
   * cancelled, aborted or closed.
   */
  stream(signal?: AbortSignal, since = Infinity): ReadableStream<ProcessChange> {
    let end = () => {};
    return new ReadableStream<ProcessChange>({
      start: (controller) => {
        const kept = this.#keeps() ? this.#kept! : [];
        for (const change of kept) if (change.at.getTime() > since) controller.enqueue(change);
        const stop = this.listen((change) => {
          controller.enqueue(change);
          if ((controller.desiredSize ?? 0) < 0) close();
        });
        const close = () => {
          end();
          controller.close();
        };
        end = () => {
          stop();
          this.#closers.delete(close);
          signal?.removeEventListener("abort", close);
        };
        this.#closers.add(close);
        if (signal?.aborted) close();
        else signal?.addEventListener("abort", close);
      },
      cancel: () => end(),
    }, new CountQueuingStrategy({ highWaterMark: MAX_WAITING }));
  }

  /** Ends every stream. */
  close(): void {
    for (const close of [...this.#closers]) close();
    this.#listeners.clear();
  }
}

/** Calls a listener, whose failure must not disturb a process. */
export function callListener(call: () => void, warn: (message: string) => void): void {
  try {
    call();
  } catch (error) {
    warn(`A listener failed: ${messageOf(error)}`);
  }
}
