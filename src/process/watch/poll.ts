/** Polls all files: the fallback when the system grants no more watches. */

import type { Cancel, Clock } from "../../platform/clock.ts";
import type { WatchTree } from "./tree.ts";

/** Minimum pause between two polls; after a slow one, ten times its duration. */
const POLL_MS = 1000;

/** Calls `changed` with the first path that differs from the previous poll. */
export class FilePoll {
  readonly #tree: WatchTree;
  readonly #clock: Clock;
  readonly #changed: (path: string) => void;
  #cancel: Cancel = () => {};
  #stopped = false;

  constructor(tree: WatchTree, clock: Clock, changed: (path: string) => void) {
    this.#tree = tree;
    this.#clock = clock;
    this.#changed = changed;
    void this.#look(undefined);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #look(before: ReadonlyMap<string, string> | undefined): Promise<void> {
    const begun = this.#clock.steady();
    const now = await marks(this.#tree);
    if (this.#stopped) return;
    const path = before === undefined ? undefined : difference(before, now);
    if (path !== undefined) this.#changed(path);
    const pause = Math.max(POLL_MS, 10 * (this.#clock.steady() - begun));
    this.#cancel = this.#clock.after(pause, () => void this.#look(now));
  }
}

/** Files, each with a mark that every change alters. */
async function marks(tree: WatchTree): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { path, isFolder } of tree.entries()) {
    if (isFolder) continue;
    const info = await Deno.lstat(path).catch(() => undefined);
    if (info !== undefined) found.set(path, `${changeTimes(info)} ${info.size} ${info.ino}`);
  }
  return found;
}

/**
 * Times of the last change of a file (mtime) and of its metadata (ctime), in milliseconds since the
 * epoch. The runtime rounds ctime down to a second.
 */
export function changeTimes({ mtime, ctime }: Deno.FileInfo): readonly number[] {
  return [mtime?.getTime() ?? 0, ctime?.getTime() ?? 0];
}

function difference(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): string | undefined {
  for (const [path, mark] of now) if (before.get(path) !== mark) return path;
  for (const path of before.keys()) if (!now.has(path)) return path;
  return undefined;
}
