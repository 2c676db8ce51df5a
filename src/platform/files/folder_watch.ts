/**
 * Reports changes of the entries of many folders. Each has its own watch: a recursive one would
 * also cover everything that is ignored.
 *
 * All watches of the runtime share one table of paths. A folder that was removed and created again
 * stays dead in it while any watch holds its path. Then all watches are closed at once and opened
 * again.
 */

import { watchFolders } from "../upkeep.ts";

/** Opens a watch on the entries of folders; replaced in tests. */
export type OpenWatch = (folders: string[]) => Deno.FsWatcher;

interface FolderListener {
  /** Something happened to an entry. */
  event(event: Deno.FsEvent): void;
  /** A watched folder is gone. */
  folderGone(): void;
  /** Changes may have been missed. */
  missed(): void;
  /** The folders cannot be watched any longer. */
  failed(error: unknown): void;
}

const everyone = new Set<FolderWatch>();
/** Paths that were removed while they were watched. */
const stale = new Set<string>();
/** With more dead paths, or more watches of one `FolderWatch`, all are opened again. */
const MAX_STALE = 10_000;
const MAX_WATCHERS = 32;
let turn: Promise<unknown> = Promise.resolve();

/** Opening and closing take turns: a watch that is being closed still holds its paths. */
function inTurn(act: () => Promise<void>): Promise<void> {
  const mine = turn.then(act);
  turn = mine.catch(() => {});
  return mine;
}

export class FolderWatch {
  readonly #on: FolderListener;
  readonly #open: OpenWatch;
  readonly #folders = new Set<string>();
  readonly #watchers = new Map<Deno.FsWatcher, Promise<void>>();
  #stopped = false;

  constructor(on: FolderListener, open: OpenWatch = watchFolders) {
    this.#on = on;
    this.#open = open;
    everyone.add(this);
  }

  /** Whether a folder is watched. */
  has(folder: string): boolean {
    return this.#folders.has(folder);
  }

  /** Watches more folders; those that are gone by now are left out. Throws at the system's limit. */
  add(folders: readonly string[]): Promise<void> {
    return inTurn(async () => {
      const fresh = folders.filter((folder) => !this.#folders.has(folder));
      if (this.#stopped || fresh.length === 0) return;
      for (const folder of fresh) this.#folders.add(folder);
      const dead = stale.size > MAX_STALE || fresh.some((folder) => stale.has(folder));
      if (dead || this.#watchers.size >= MAX_WATCHERS) await takeUpAgain();
      else this.#watch(fresh);
    });
  }

  stop(): void {
    this.#stopped = true;
    void inTurn(async () => {
      await this.close();
      everyone.delete(this);
      if (everyone.size === 0) stale.clear();
    });
  }

  /** Closes all watches; part of `takeUpAgain()`. */
  async close(): Promise<void> {
    const open = [...this.#watchers];
    this.#watchers.clear();
    for (const [watcher] of open) watcher.close();
    await Promise.all(open.map(([, ended]) => ended));
  }

  /** Opens the closed watches; part of `takeUpAgain()`. */
  reopen(): void {
    if (this.#stopped) return;
    try {
      this.#watch([...this.#folders]);
      this.#on.missed();
    } catch (error) {
      this.#on.failed(error);
    }
  }

  #watch(folders: readonly string[]): void {
    let there = folders;
    for (;;) {
      there = there.filter((folder) => this.#isThere(folder));
      if (there.length === 0) return;
      try {
        const watcher = this.#open([...there]);
        this.#watchers.set(watcher, this.#read(watcher));
        return;
      } catch (error) {
        // One of them was just removed: try the others again.
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    }
  }

  #isThere(folder: string): boolean {
    try {
      if (Deno.lstatSync(folder).isDirectory) return true;
    } catch {
      // Gone, or not accessible.
    }
    this.#folders.delete(folder);
    return false;
  }

  async #read(watcher: Deno.FsWatcher): Promise<void> {
    try {
      for await (const event of watcher) {
        if (!this.#watchers.has(watcher)) continue;
        if (event.kind === "remove" || event.kind === "rename") this.#forget(event.paths);
        if (event.flag === "rescan") this.#on.missed();
        else this.#on.event(event);
      }
    } catch (error) {
      if (this.#watchers.has(watcher)) this.#on.failed(error);
    }
  }

  /** A watch follows the folder, not its path: a new folder at the path is not watched. */
  #forget(paths: readonly string[]): void {
    let gone = false;
    for (const path of paths) {
      if (!this.#folders.has(path)) continue;
      gone = true;
      for (const folder of this.#folders) {
        if (folder !== path && !folder.startsWith(`${path}/`)) continue;
        this.#folders.delete(folder);
        stale.add(folder);
      }
    }
    if (gone) this.#on.folderGone();
  }
}

async function takeUpAgain(): Promise<void> {
  const all = [...everyone];
  await Promise.all(all.map((watch) => watch.close()));
  stale.clear();
  for (const watch of all) watch.reopen();
}
