/**
 * Closes the listening sockets of an app that does not serve, so that its clients are refused and do
 * not hang: at once when all its instances are at rest, and `listen_timeout` after the last one
 * served when they wait for a restart. A release keeps them: the next batch or its rollback serves.
 * The next launch opens them again.
 */

import type { Snapshot } from "../model/process_state.ts";
import { AT_REST } from "../model/transition_steps.ts";
import type { Cancel } from "../platform/clock.ts";
import type { World } from "../platform/world.ts";
import { sharedSockets } from "../process/launch_setup.ts";
import type { ManagedApp } from "./managed_app.ts";
import type { ManagedProcess } from "../process/managed_process.ts";

export class IdleSockets {
  readonly #world: Pick<World, "clock" | "dropSockets">;
  readonly #appOf: (name: string) => ManagedApp | undefined;
  /** When an instance last served, or the app was started, in steady milliseconds. */
  readonly #servedAt = new Map<string, number>();
  readonly #timers = new Map<string, Cancel>();

  constructor(
    world: Pick<World, "clock" | "dropSockets">,
    appOf: (name: string) => ManagedApp | undefined,
  ) {
    this.#world = world;
    this.#appOf = appOf;
  }

  /** Call it when the snapshot of a process has changed. */
  changed({ config, snapshot: now }: ManagedProcess, before: Snapshot): void {
    if (config.sockets.length === 0) return;
    const { name, minUptimeMs, listenTimeoutMs } = config;
    const { clock } = this.#world;
    const isStart = AT_REST.has(before.state) && !AT_REST.has(now.state);
    const hasServed = now.run === null && before.ready &&
      (now.finishedAt ?? 0) - (before.startedAt ?? 0) >= minUptimeMs;
    if (isStart || hasServed) this.#servedAt.set(name, clock.steady());
    if (!AT_REST.has(now.state) && now.state !== "waiting") return;
    this.#dropInTime(name, listenTimeoutMs);
  }

  /** Drops them now, and again once the wait is over: the timer may fire a moment early. */
  #dropInTime(name: string, listenTimeoutMs: number): void {
    this.#timers.get(name)?.();
    const left = listenTimeoutMs - this.#waitedMs(name);
    const again = () => this.#dropInTime(name, listenTimeoutMs);
    if (left > 0) this.#timers.set(name, this.#world.clock.after(left, again));
    this.drop(name);
  }

  /** Closes the sockets of a process that no instance needs any more. */
  drop(name: string): void {
    const { isChanging = false, instances = [] } = this.#appOf(name) ?? {};
    const used = instances.filter((process) => isChanging || this.#needs(process))
      .flatMap(({ config }) => sharedSockets(config)?.addresses ?? []);
    this.#world.dropSockets(name, new Set(used.map(({ text }) => text)));
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel();
  }

  #needs(
    { config: { name, listenTimeoutMs }, snapshot: { state, awaiting } }: ManagedProcess,
  ): boolean {
    if (awaiting === "connection") return true;
    if (state === "waiting") return this.#waitedMs(name) < listenTimeoutMs;
    return !AT_REST.has(state);
  }

  #waitedMs(name: string): number {
    const now = this.#world.clock.steady();
    return now - (this.#servedAt.get(name) ?? now);
  }
}
