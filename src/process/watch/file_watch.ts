/**
 * Restart on change: reports the first change below the watched paths, once its burst is over, and
 * then stops, since the run is over. Ignored folders are not watched.
 */

import type { OtherUser } from "../../platform/users/as_user.ts";
import { ifPossible, messageOf } from "../../model/errors.ts";
import type { WatchConfig } from "../../model/process_config.ts";
import { dirname } from "@std/path";
import { type Cancel, type Clock, systemClock } from "../../platform/clock.ts";
import { FolderWatch, type OpenWatch } from "../../platform/files/folder_watch.ts";
import { type Look, WatchTree } from "./tree.ts";

export interface FileWatchOptions extends Pick<WatchConfig, "paths" | "ignore" | "debounceMs"> {
  /** Absolute. Paths are relative to it; without any paths, it is watched itself. */
  readonly cwd: string;
  /** Absolute paths that never count: the supervisor's own home. */
  readonly own?: readonly string[];
  /** The user whose rights decide what is watched, if not ours. */
  readonly user?: OtherUser | undefined;
  /** Looks at the files at intervals, without events of the system. */
  readonly poll?: boolean;
  /** How long the app has been up; default: 0. */
  readonly upForMs?: number;
  readonly clock?: Clock;
  /** Replaced in tests. */
  readonly open?: OpenWatch;
}

interface FileWatchListener {
  /** Files changed, this one first. Its path is relative to the working directory. */
  changed(path: string): void;
  /** Something cannot be watched, or not as it should be. The app is not affected. */
  problem(message: string): void;
}

/** Delay before the tree is walked again: more folders may appear. */
const SETTLE_MS = 50;

/** Interval of checks for a watched path that disappeared. */
const RETURN_MS = 1000;

/** Watches until it is stopped, or has reported a change. */
export function watchFiles(options: FileWatchOptions, on: FileWatchListener): { stop(): void } {
  return new FileWatch(options, on);
}

class FileWatch {
  readonly #options: FileWatchOptions;
  readonly #on: FileWatchListener;
  readonly #clock: Clock;
  readonly #debouncer: Debouncer;
  readonly #folders: FolderWatch;
  /** Milliseconds since the epoch. */
  readonly #upSince: number;
  /** What existed when the watch began. A file that came and went since does not count. */
  #known: ReadonlySet<string> = new Set();
  readonly #tree: WatchTree;
  #files: readonly string[] = [];
  #poll: FilePoll | undefined;
  #cancelWalk: Cancel | undefined;
  #walking = false;
  /** Events were lost. True at first: changes before the watch is set up have no events. */
  #missed = true;
  #stopped = false;

  constructor(options: FileWatchOptions, on: FileWatchListener) {
    this.#options = options;
    this.#on = on;
    const { cwd, paths, ignore, own = [], user } = options;
    this.#tree = new WatchTree(cwd, paths, ignore, own, user);
    this.#clock = options.clock ?? systemClock;
    this.#upSince = Date.now() - (options.upForMs ?? 0);
    this.#debouncer = new Debouncer(
      this.#clock,
      options.debounceMs,
      (path) => kindOf(path) === "file" || (kindOf(path) === "none" && this.#known.has(path)),
      (first) => this.#settled(first),
    );
    this.#folders = new FolderWatch({
      event: (event) => this.#happened(event),
      folderGone: () => this.#walkSoon(SETTLE_MS),
      missed: () => {
        this.#missed = true;
        this.#walkSoon(SETTLE_MS);
      },
      failed: (error) => this.#pollInstead(error),
    }, options.open);
    void (options.poll ? this.#onlyPoll() : this.#walk(true));
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelWalk?.();
    this.#debouncer.stop();
    this.#folders.stop();
    this.#poll?.stop();
  }

  /** Watches folders that are not watched yet. Files in folders that appeared later are changes. */
  async #walk(first: boolean): Promise<void> {
    this.#walking = true;
    const appeared = new Set<string>();
    try {
      let look: Look | undefined;
      for (let fresh = [""]; fresh.length > 0 && !this.#stopped;) {
        look = await this.#tree.look();
        this.#files = look.files;
        if (first && appeared.size === 0) this.#begin(look);
        fresh = look.folders.filter((folder) => !this.#folders.has(folder));
        await this.#folders.add(fresh);
        for (const folder of fresh) appeared.add(folder);
      }
      if (!first) this.#notifyOfFilesIn(appeared);
      if (this.#missed) await this.#findMissed();
      if (look !== undefined && look.problems.length > 0) this.#walkSoon(RETURN_MS);
    } catch (error) {
      this.#pollInstead(error);
    } finally {
      this.#walking = false;
    }
  }

  #begin({ files, problems }: Look): void {
    for (const problem of problems) this.#on.problem(problem);
    const known = new Set<string>();
    for (const file of files) {
      for (let at = file; at !== "/" && !known.has(at); at = dirname(at)) known.add(at);
    }
    this.#known = known;
  }

  #notifyOfFilesIn(folders: ReadonlySet<string>): void {
    const first = this.#files.find((path) => folders.has(dirname(path)));
    if (first !== undefined) this.#changed(first);
  }

  #walkSoon(ms: number): void {
    if (this.#stopped || this.#poll !== undefined || this.#cancelWalk !== undefined) return;
    this.#cancelWalk = this.#clock.after(ms, () => {
      this.#cancelWalk = undefined;
      if (this.#walking) this.#walkSoon(ms);
      else void this.#walk(false);
    });
  }

  #happened(event: Deno.FsEvent): void {
    if (event.kind === "access") return;
    for (const path of event.paths) {
      if (!this.#tree.counts(path)) continue;
      // A folder itself does not count as a change. Its files have events of their own.
      if (kindOf(path) !== "folder") this.#changed(path);
      else if (event.kind !== "modify") this.#walkSoon(SETTLE_MS);
    }
  }

  /**
   * Reports a file changed since the app was launched, maybe while no daemon ran. Removed files cannot
   * be found. A future time, from before the clock was set back, does not count.
   */
  async #findMissed(): Promise<void> {
    this.#missed = false;
    const now = Date.now();
    for (const path of this.#files) {
      if (this.#stopped) return;
      const info = await Deno.lstat(path).catch(() => undefined);
      const times = info === undefined ? [] : changeTimes(info);
      if (times.some((at) => at > this.#upSince && at <= now)) return this.#changed(path);
    }
  }

  #changed(path: string): void {
    if (!this.#stopped) this.#debouncer.add(path);
  }

  #settled(changed: string): void {
    const path = this.#tree.shown(changed);
    this.stop();
    this.#on.changed(path);
  }

  #pollInstead(error: unknown): void {
    if (this.#stopped || this.#poll !== undefined) return;
    this.#folders.stop();
    this.#on.problem(limitProblem(messageOf(error)));
    this.#beginPoll();
  }

  async #onlyPoll(): Promise<void> {
    const look = await this.#tree.look();
    if (this.#stopped) return;
    this.#files = look.files;
    this.#begin(look);
    this.#beginPoll();
  }

  #beginPoll(): void {
    this.#poll = new FilePoll(this.#tree, this.#clock, (path) => this.#changed(path));
    // Its first poll reports nothing: find the changes before it here.
    void this.#findMissed();
  }
}

function limitProblem(message: string): string {
  return `cannot watch files (${message}), they are looked at every second or less often. ` +
    "A limit of the system is raised with: sysctl fs.inotify.max_user_watches=524288";
}

function kindOf(path: string): "folder" | "file" | "none" {
  return ifPossible(() => Deno.lstatSync(path).isDirectory ? "folder" : "file") ?? "none";
}

/** Minimum pause between two polls; after a slow one, ten times its duration. */
const POLL_MS = 1000;

/**
 * Polls all files: the fallback when the system grants no more watches. Calls `changed` with the
 * first path that differs from the previous poll.
 */
class FilePoll {
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
  for (const path of (await tree.look()).files) {
    const info = await Deno.lstat(path).catch(() => undefined);
    if (info !== undefined) found.set(path, `${changeTimes(info)} ${info.size} ${info.ino}`);
  }
  return found;
}

/**
 * Times of the last change of a file (mtime) and of its metadata (ctime), in milliseconds since the
 * epoch. The runtime rounds ctime down to a second.
 */
function changeTimes({ mtime, ctime }: Deno.FileInfo): readonly number[] {
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

/** A burst that does not end is reported after this many debounces, or `MIN_CAP_MS` if longer. */
const CAP_DEBOUNCES = 10;

/** A checkout of many files takes longer than ten short debounces. */
const MIN_CAP_MS = 5000;

/** Maximum paths kept of a burst: in a larger one, some of them count anyway. */
const MAX_PATHS = 5000;

/** Makes one restart of a burst of changes: collects them until it has been quiet for the debounce time. */
class Debouncer {
  readonly #clock: Clock;
  readonly #debounceMs: number;
  readonly #isChange: (path: string) => boolean;
  readonly #over: (first: string) => void;
  readonly #paths = new Set<string>();
  #since = 0;
  #cancel: Cancel = () => {};

  constructor(
    clock: Clock,
    debounceMs: number,
    isChange: (path: string) => boolean,
    over: (first: string) => void,
  ) {
    this.#clock = clock;
    this.#debounceMs = debounceMs;
    this.#isChange = isChange;
    this.#over = over;
  }

  /** Adds a path. At the end of the burst it is checked whether it changed. */
  add(path: string): void {
    const now = this.#clock.steady();
    if (this.#paths.size === 0) this.#since = now;
    if (this.#paths.size < MAX_PATHS) this.#paths.add(path);
    const left = this.#since + Math.max(this.#debounceMs * CAP_DEBOUNCES, MIN_CAP_MS) - now;
    // It is due already: postponed again and again it would never fire.
    if (left <= 0) return;
    this.#cancel();
    this.#cancel = this.#clock.after(Math.min(this.#debounceMs, left), () => this.#end());
  }

  stop(): void {
    this.#cancel();
    this.#paths.clear();
  }

  #end(): void {
    const first = [...this.#paths].find(this.#isChange);
    this.#paths.clear();
    if (first !== undefined) this.#over(first);
  }
}
