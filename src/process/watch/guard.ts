/** Distinguishes an app that changes its own sources at every start from a person's edits. */

/** Restarts in a row after which watching pauses. */
export const LOOP_RESTARTS = 10;

/** A change that comes later than this after a start is not the app's own. */
const SOON_MS = 3000;

/** Restarts longer ago than this do not count. */
const LOOP_WINDOW_MS = 120_000;

/** One restart because of a change. */
interface WatchRestart {
  /** Steady milliseconds. */
  readonly at: number;
  /** How long the app had been up. */
  readonly upForMs: number;
}

/**
 * The restarts in a row that each came soon after a start, this one included; a late one ends the
 * row. Pure.
 */
export function withRestart(
  row: readonly WatchRestart[],
  restart: WatchRestart,
): readonly WatchRestart[] {
  if (restart.upForMs > SOON_MS) return [];
  return [...row.filter(({ at }) => restart.at - at <= LOOP_WINDOW_MS), restart];
}

/** Remembers the restarts of a process across its runs. */
export class LoopGuard {
  #row: readonly WatchRestart[] = [];

  /** Notes a restart that is about to happen; true if it must not happen. */
  trips(restart: WatchRestart): boolean {
    this.#row = withRestart(this.#row, restart);
    if (this.#row.length <= LOOP_RESTARTS) return false;
    this.#row = [];
    return true;
  }
}
