/** The state of one log: the interval of its checks, and their results. */

import type { LogTrouble } from "../../model/log_line.ts";
import type { ProcessConfig } from "../../model/process_config.ts";
import type { Snapshot } from "../../model/process_state.ts";
import type { LogFiles } from "../write/log_files.ts";
import { type LogPosition, readPosition } from "../write/log_position.ts";
import { rotationSize } from "../write/rotate.ts";
import {
  addMarks,
  lastMark,
  releaseMarks,
  saveMarks,
  type TimeMark,
  trimMarks,
} from "../write/time_index.ts";
import type { Cancel } from "../../platform/clock.ts";
import { type FileWatch, watchedPath } from "../../platform/files/file_watch.ts";
import { lstatIfAny } from "../../platform/files/stat.ts";

/** Interval of checks of a log that is written to continuously. */
const CONTINUOUS_MS = 100;

/** Interval of checks of a log that was just written to, and of one that fills up quickly. */
const BUSY_MS = 1000;
const FAST_MS = 200;

/** Interval of checks of a log that has long been silent. */
const SILENT_MS = 10_000;

/** A log written to this recently is checked again, so that a stack trace gets one time. */
const UNSETTLED_MS = 10;
const MAX_POSTPONED = 2;
const POSTPONED_BYTES = 64 * 1024;

/** After this many checks in a row with new lines, a log counts as written to continuously. */
const CONTINUOUS_LOOKS = 2;

/** Lines written within this time share one time. */
const BURST_MS = 150;

/** Minimum time without a write that is marked as a pause. */
const PAUSE_MS = 100;

/** Interval of saving marks. */
const SAVE_MS = 5000;

/** Number of marks between trims: some minutes of a log that is never silent. */
const MARKS_BETWEEN_TRIMS = 4096;

/** A process, as its logs are kept. */
export interface LoggedProcess {
  readonly name: string;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
  readonly logs: LogFiles;
  /** Folder of its logs, unless it is configured with others. */
  readonly folder: string;
}

interface KeptLogOptions {
  readonly stream: keyof LogFiles;
  readonly process: LoggedProcess;
  readonly watch: Pick<FileWatch, "once">;
  readonly changed: (log: KeptLog) => void;
}

/** A log, as of its last check. */
export class KeptLog {
  readonly path: string;
  process: LoggedProcess;
  /** Steady milliseconds of the next check. */
  dueAt = 0;
  /** Whether interrupted rotations were completed. */
  recovered = false;
  /** Rotations, flushes and recoveries that are in progress or queued. */
  changes = 0;
  /** Whether the head of the file can be cut off; determined at the first rotation. */
  collapse: boolean | undefined;
  /** Failed cuts in a row. */
  refusals = 0;
  /** Steady milliseconds before which a failed rotation is not retried. */
  retryAt = 0;
  /** What another program did to the file. */
  trouble: LogTrouble | undefined;
  /** Time of the oldest archive; Infinity without one. */
  oldestAt = Infinity;
  /** Creation time of the file. */
  bornAt = 0;
  /** The content of the file was written after this time; undefined before the first check. */
  begunAt: number | undefined;
  readonly #stream: keyof LogFiles;
  #interval = BUSY_MS;
  #base = 0;
  #end = 0;
  #size = 0;
  #writtenAt: number | undefined;
  /** The last check found a new write time without growth: since a check of the same run, or not. */
  #rewritten: "in its run" | "before it" | undefined;
  #inode: number | null = null;
  #runId: string | undefined;
  #blockSize: number | null = null;
  #lookedAt = 0;
  #markedAt = 0;
  #grownBy = 0;
  #marked = 0;
  #savedAt = 0;
  readonly #watch: Pick<FileWatch, "once">;
  readonly #watchedPath: Uint8Array<ArrayBuffer>;
  readonly #changed: (log: KeptLog) => void;
  #unwatch: Cancel | undefined;
  /** Time of the first write since the last check, if the log is watched. */
  #changedAt: number | undefined;
  #lookedSteady = 0;
  #hasLooked = false;
  #grownLooks = 0;
  #postponed = 0;

  /** `changed` is called when the log should be checked earlier. */
  constructor(path: string, { stream, process, watch, changed }: KeptLogOptions) {
    this.path = path;
    this.#stream = stream;
    this.process = process;
    this.#watch = watch;
    this.#watchedPath = watchedPath(path);
    this.#changed = changed;
  }

  /** Stops watching. */
  release(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    releaseMarks(this.path);
  }

  /** Whether its files are being changed. */
  get busy(): boolean {
    return this.changes > 0;
  }

  /** True when its app has stopped and all of its output was read. */
  get isDone(): boolean {
    const { logs, snapshot } = this.process;
    const isWritten = snapshot.run !== null && Object.values(logs).includes(this.path);
    return !isWritten && this.#interval > BUSY_MS;
  }

  /** Bytes of the file. */
  get size(): number {
    return this.#size;
  }

  /** Whether it is time to rotate. */
  get isFull(): boolean {
    const { maxSizeBytes } = this.process.config.log;
    return this.#size > rotationSize(maxSizeBytes, this.#blockSize);
  }

  /** When daily rotation is due, in milliseconds since the epoch. */
  get dayEndsAt(): number {
    const isDaily = this.process.config.log.rotate === "daily";
    if (!isDaily || this.begunAt === undefined || this.#size === 0) return Infinity;
    return new Date(this.begunAt).setHours(24, 0, 0, 0);
  }

  /** When an archive becomes too old, in milliseconds since the epoch. */
  get expiresAt(): number {
    return this.oldestAt + this.process.config.log.maxAgeMs;
  }

  /** Returns to frequent checks. */
  hurry(): void {
    this.#interval = BUSY_MS;
    this.dueAt = 0;
    this.#watchFile();
  }

  /** Reads the state of the log from its files: at first, and after a rotation or flush. */
  refresh({ base }: Pick<LogPosition, "base"> = readPosition(this.path)): void {
    this.#base = base;
    const mark = lastMark(this.path);
    const info = lstatIfAny(this.path);
    this.bornAt = (info?.birthtime ?? info?.mtime ?? new Date()).getTime();
    const born = this.#base > 0 ? undefined : this.bornAt;
    this.#end = Math.max(mark?.end ?? 0, this.#base);
    this.#markedAt = mark?.at ?? 0;
    this.#lookedAt = mark?.at ?? born ?? Date.now();
    this.#inode = info?.ino ?? null;
    this.#size = info?.size ?? 0;
    this.#writtenAt = info?.mtime?.getTime();
  }

  /** Checks the log once. Makes few system calls if nothing was written. */
  look(steady: number, now: number): void {
    // Lines written before the first check may be old: the log was not watched.
    if (!this.#hasLooked) this.#changedAt = undefined;
    // Watched since the last check without an event: new lines were written just now.
    else if (this.#unwatch !== undefined) this.#changedAt ??= now;
    if (this.#grownLooks < CONTINUOUS_LOOKS) this.#watchFile();
    let grown = this.#isGrown(now);
    // Check again once the watch has started: it does not report earlier writes.
    if (grown === false && this.#watchFile()) grown = this.#isGrown(now);
    if (grown === undefined) {
      this.dueAt = steady + UNSETTLED_MS;
      return;
    }
    this.#grownLooks = grown ? this.#grownLooks + 1 : 0;
    this.#interval = grown ? BUSY_MS : Math.min(SILENT_MS, this.#interval * 2);
    this.dueAt = steady + Math.min(this.#pauseMs(grown), Math.max(1, this.dayEndsAt - now));
    this.#hasLooked = true;
    this.#lookedAt = now;
    this.#lookedSteady = steady;
    this.#changedAt = undefined;
    this.#postponed = 0;
    if (now - this.#savedAt < SAVE_MS) return;
    saveMarks(this.path);
    this.#savedAt = now;
  }

  /** Call it when the watch reports a write. */
  notice(steady: number, now: number): void {
    this.#changedAt ??= now;
    const earliest = this.#lookedSteady + CONTINUOUS_MS;
    this.dueAt = Math.min(this.dueAt, Math.max(steady, earliest));
  }

  #pauseMs(grown: boolean): number {
    if (grown && this.#unwatch === undefined && this.#grownLooks >= CONTINUOUS_LOOKS) {
      return CONTINUOUS_MS;
    }
    return grown && this.#fillsFast() ? FAST_MS : this.#interval;
  }

  /** Starts watching. Returns false if it was watched already, or cannot be. */
  #watchFile(): boolean {
    if (this.#unwatch !== undefined) return false;
    this.#unwatch = this.#watch.once(this.#watchedPath, () => {
      this.#unwatch = undefined;
      this.#changed(this);
    });
    return this.#unwatch !== undefined;
  }

  /** Whether it grew since the last check; undefined if it must be checked again a little later. */
  #isGrown(now: number): boolean | undefined {
    const info = lstatIfAny(this.path);
    const { run, pid } = this.process.snapshot;
    const isSameRun = run !== null && run.runId === this.#runId;
    this.#runId = run?.runId;
    const isReplaced = isSameRun && this.#inode !== null && info?.ino !== this.#inode;
    // The app has a pid once its logs are open.
    if (isReplaced || info === undefined && pid > 0) this.trouble = "moved";
    // The next file may get its inode.
    if (info === undefined) this.#inode = null;
    if (info?.isFile !== true) return false;
    return this.#isUnsettled(info, now) ? undefined : this.#see(info, now, isSameRun);
  }

  #isUnsettled({ size, mtime, ino }: Deno.FileInfo, now: number): boolean {
    const grownBy = size - this.#size;
    return ino === this.#inode && grownBy > 0 && grownBy < POSTPONED_BYTES &&
      now - (mtime?.getTime() ?? 0) < UNSETTLED_MS && this.#postponed++ < MAX_POSTPONED;
  }

  #fillsFast(): boolean {
    return this.#grownBy > this.process.config.log.maxSizeBytes / 2;
  }

  #see(info: Deno.FileInfo, now: number, isSameRun: boolean): boolean {
    const end = this.#base + info.size;
    const writtenAt = info.mtime?.getTime();
    const isRewritten = end === this.#end && writtenAt !== this.#writtenAt &&
      info.ino === this.#inode;
    // A write sets the time before the size. Without growth at two checks, it was truncated.
    if (isRewritten && this.#rewritten === undefined) {
      this.#rewritten = isSameRun ? "in its run" : "before it";
      return false;
    }
    const shrunk = end < this.#end || isRewritten;
    // Since a check of this run: an earlier run may have done it as well.
    const isItsOwn = isSameRun && this.#rewritten !== "before it";
    this.#rewritten = undefined;
    this.#writtenAt = writtenAt;
    if (shrunk && isItsOwn && info.ino === this.#inode) this.trouble = "truncated";
    if (info.ino !== this.#inode || shrunk) {
      // Replaced or truncated by another program: marks beyond its end belong to other content.
      trimMarks(this.path, 0, this.#base);
      this.#end = this.#base;
    }
    this.#inode = info.ino;
    this.#size = info.size;
    this.#blockSize = info.blksize;
    this.#grownBy = end - this.#end;
    if (this.#grownBy <= 0) return false;
    this.#mark(end, Math.min(writtenAt ?? now, now));
    return true;
  }

  #mark(end: number, at: number): void {
    const marks: TimeMark[] = [];
    let since = Math.min(this.#changedAt ?? this.#lookedAt, at);
    const { run, startedAt } = this.process.snapshot;
    const from = run?.outputFrom?.[this.#stream === "stdout" ? 0 : 1] ?? -1;
    // The first lines of an app are no older than its start.
    const isFirst = from >= this.#end && startedAt !== null && startedAt > since;
    const exact = at - since <= BURST_MS;
    // Mark a pause: nothing was written between the last mark and `since`.
    if (!exact && (this.#markedAt === 0 || since - this.#markedAt > PAUSE_MS)) {
      marks.push({ at: since, end: this.#end });
    }
    if (isFirst) marks.push({ at: since = Math.min(startedAt, at), end: from });
    marks.push(at - since <= BURST_MS ? { at, end, exact: true } : { at, end });
    addMarks(this.path, marks);
    if (++this.#marked % MARKS_BETWEEN_TRIMS === 0) trimMarks(this.path, 0, end);
    this.#markedAt = at;
    this.#end = end;
  }
}
