/** Ends what runs left behind that are no longer, or never became, the process's own. */

import type { Run } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import type { World } from "./world.ts";

/** The ends of leftovers that are under way. */
export class Leftovers {
  readonly #world: World;
  /** Steady milliseconds at which each is killed. */
  readonly #deadlines = new Set<{ at: number }>();
  #groups: Promise<void> = Promise.resolve();
  #all: Promise<void> = Promise.resolve();

  constructor(world: World) {
    this.#world = world;
  }

  /** Resolves when the groups are gone. Descendants that left theirs may still be there. */
  get groupsGone(): Promise<unknown> {
    return this.#groups;
  }

  /** Resolves when everything is gone. */
  get gone(): Promise<unknown> {
    return this.#all;
  }

  /** Ends what is left of a run; resolves with how many processes that were. Rejects when it cannot look. */
  end(run: Run, signal: SignalName, graceMs: number): Promise<number> {
    // Nothing outlives a boot, and its pids are others' by now.
    if (run.bootId !== this.#world.bootId) return Promise.resolve(0);
    const deadline = { at: this.#world.clock.steady() + graceMs };
    this.#deadlines.add(deadline);
    const { group, all } = this.#world.sweep(run, signal, () => deadline.at);
    const over = all.finally(() => this.#deadlines.delete(deadline));
    this.#groups = both(this.#groups, group);
    this.#all = both(this.#all, over);
    return over;
  }

  /** Somebody waits, and has less patience. */
  hurry(graceMs: number): void {
    const at = this.#world.clock.steady() + graceMs;
    for (const deadline of this.#deadlines) deadline.at = Math.min(deadline.at, at);
  }
}

/** Resolves, with nothing, when both have come to something: a failure is told to whoever asked. */
async function both(earlier: Promise<void>, later: Promise<unknown>): Promise<void> {
  await Promise.allSettled([earlier, later]);
}
