/** Terminates what a process's runs left behind, except its current one. */

import type { Run } from "../model/process_state.ts";
import type { Cancel } from "../platform/clock.ts";
import type { OrphanCleanup, Orphans } from "../platform/scan/process_group.ts";
import type { World, WorldStopWay } from "../platform/world.ts";

/** Delay before it looks again when the system did not let it look. */
const LOOK_AGAIN_MS = 1000;

interface Cleanup {
  graceMs: number;
  /** Steady milliseconds at which it kills; undefined while its hook runs. */
  killAt: number | undefined;
  /** Aborted when its hook must be cut short. */
  readonly impatient: AbortController;
}

export class Leftovers {
  readonly #world: World;
  readonly #cleanups = new Set<Cleanup>();
  #groups: Promise<void> = Promise.resolve();
  #all: Promise<void> = Promise.resolve();
  /** Runs that could not be looked for at the last try, with the reason. */
  readonly #unseen = new Map<Run, unknown>();
  readonly #pauses = new Set<Cancel>();

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * Resolves when the groups are gone. Descendants that left theirs may still exist. Rejects while
   * a run cannot be looked for: it may still have processes.
   */
  get groupsGone(): Promise<void> {
    return this.#groups.then(() => this.#refuseUnseen());
  }

  /** Resolves when everything is gone; rejects while a run cannot be looked for. */
  get gone(): Promise<void> {
    return this.#all.then(() => this.#refuseUnseen());
  }

  #refuseUnseen(): void {
    for (const reason of this.#unseen.values()) throw reason;
  }

  /**
   * Ends what is left of a run and resolves with what that was. If it cannot look, for lack
   * of descriptors for example, it reports that once and tries until it can. `hook` is run first.
   */
  async cleanUp(
    run: Run,
    way: WorldStopWay,
    graceMs: number,
    cannotLook: (reason: unknown) => void,
    hook?: (impatient: AbortSignal) => Promise<unknown>,
  ): Promise<Orphans> {
    // No process outlives a boot, and the pids are reused.
    if (run.bootId !== this.#world.bootId) return { count: 0 };
    const cleanup: Cleanup = { graceMs, killAt: undefined, impatient: new AbortController() };
    this.#cleanups.add(cleanup);
    const begun = Promise.withResolvers<OrphanCleanup>();
    this.#await(begun.promise.then(({ group }) => group), begun.promise.then(({ all }) => all));
    if (hook !== undefined) await hook(cleanup.impatient.signal);
    cleanup.killAt = this.#world.clock.steady() + cleanup.graceMs;
    for (;;) {
      const { group, all } = this.#world.cleanUpOrphans(run, way, () => cleanup.killAt!);
      begun.resolve({ group, all });
      this.#await(group, all);
      try {
        const orphans = await all;
        this.#unseen.delete(run);
        this.#cleanups.delete(cleanup);
        return orphans;
      } catch (reason) {
        if (!this.#unseen.has(run)) cannotLook(reason);
        this.#unseen.set(run, reason);
      }
      await this.#pause();
    }
  }

  #await(group: Promise<unknown>, all: Promise<unknown>): void {
    this.#groups = both(this.#groups, group);
    this.#all = both(this.#all, all);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#world.clock.after(LOOK_AGAIN_MS, () => {
        this.#pauses.delete(cancel);
        resolve();
      });
      this.#pauses.add(cancel);
    });
  }

  close(): void {
    for (const cancel of this.#pauses) cancel();
  }

  /** Shortens the grace for a caller that waits less. */
  hurry(graceMs: number): void {
    const at = this.#world.clock.steady() + graceMs;
    for (const cleanup of this.#cleanups) {
      cleanup.graceMs = Math.min(cleanup.graceMs, graceMs);
      if (graceMs === 0) cleanup.impatient.abort();
      if (cleanup.killAt !== undefined) cleanup.killAt = Math.min(cleanup.killAt, at);
    }
  }
}

/** Resolves when both have settled. Failures are reported to their own callers. */
async function both(earlier: Promise<void>, later: Promise<unknown>): Promise<void> {
  await Promise.allSettled([earlier, later]);
}
