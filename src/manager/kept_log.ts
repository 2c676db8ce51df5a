/** One log under the keeper's eyes: how often it is looked at, and what the looks found. */

import type { ManagedProcess } from "../process/managed_process.ts";
import { readPosition } from "../logs/log_position.ts";
import { rotationSize } from "../logs/rotate.ts";
import { addMarks, lastMark, type TimeMark, trimMarks } from "../logs/time_index.ts";
import { lstatIfAny } from "../platform/stat.ts";

/** Between two looks at a log that is being written to, and at one that fills up within that time. */
const BUSY_MS = 1000;
const FAST_MS = 200;

/** Between two looks at a log that has been silent for long. */
const SILENT_MS = 10_000;

/** Time between the last write and a look from which the log counts as silent in between. */
const PAUSE_MS = 100;

/** About an hour of a log that is never silent. */
const MARKS_BETWEEN_TRIMS = 4096;

/** A log, as it was at the last look. */
export class KeptLog {
  readonly path: string;
  process: ManagedProcess;
  /** Steady milliseconds of the next look. */
  dueAt = 0;
  /** Interrupted rotations have been taken care of. */
  recovered = false;
  /** A rotation or flush is under way. */
  busy = false;
  /** Whether the head can be cut off; found out at the first rotation. */
  collapse: boolean | undefined;
  /** Times in a row that the file system refused to. */
  refusals = 0;
  /** A rotation that failed is not tried again before. */
  retryAt = 0;
  /** What another program has done to it. */
  trouble: "truncated" | "moved" | undefined;
  /** When the oldest archive was made; Infinity without one. */
  oldestAt = Infinity;
  readonly #stream: 0 | 1;
  #interval = BUSY_MS;
  #base = 0;
  #end = 0;
  #size = 0;
  #writtenAt: number | undefined;
  #inode: number | null = null;
  #runId: string | undefined;
  #blockSize: number | null = null;
  #lookedAt = 0;
  #markedAt = 0;
  #grownBy = 0;
  #marked = 0;

  /** The log of standard output (0) or error (1). */
  constructor(path: string, stream: 0 | 1, process: ManagedProcess) {
    this.path = path;
    this.#stream = stream;
    this.process = process;
  }

  /** Whether its app has come to rest and everything it wrote was seen. */
  get isDone(): boolean {
    return this.process.snapshot.run === null && this.#interval > BUSY_MS;
  }

  /** Whether it is time to rotate. */
  get isFull(): boolean {
    const { maxSizeBytes } = this.process.config.log;
    return this.#size > rotationSize(maxSizeBytes, this.#blockSize);
  }

  /** When an archive becomes too old, in milliseconds since the epoch. */
  get expiresAt(): number {
    return this.oldestAt + this.process.config.log.maxAgeMs;
  }

  /** Begins to look often again. */
  hurry(): void {
    this.#interval = BUSY_MS;
    this.dueAt = 0;
  }

  /** Takes up what is known of the log from its files: at first, and after a cut. */
  refresh(): void {
    this.#base = readPosition(this.path).base;
    const mark = lastMark(this.path);
    const info = lstatIfAny(this.path);
    const born = this.#base > 0 ? undefined : info?.birthtime ?? info?.mtime;
    this.#end = Math.max(mark?.end ?? 0, this.#base);
    this.#markedAt = mark?.at ?? 0;
    this.#lookedAt = mark?.at ?? born?.getTime() ?? Date.now();
    this.#inode = info?.ino ?? null;
    this.#size = info?.size ?? 0;
    this.#writtenAt = info?.mtime?.getTime();
  }

  /** One look: a single call of the system while nothing was written. */
  look(steady: number, now: number): void {
    const info = lstatIfAny(this.path);
    const runId = this.process.snapshot.run?.runId;
    const sameRun = runId !== undefined && runId === this.#runId;
    if (sameRun && this.#inode !== null && info?.ino !== this.#inode) this.trouble = "moved";
    this.#runId = runId;
    const grown = info?.isFile === true && this.#see(info, now);
    this.#interval = grown ? BUSY_MS : Math.min(SILENT_MS, this.#interval * 2);
    this.dueAt = steady + (grown && this.#fillsFast() ? FAST_MS : this.#interval);
    this.#lookedAt = now;
  }

  #fillsFast(): boolean {
    return this.#grownBy > this.process.config.log.maxSizeBytes / 2;
  }

  #see(info: Deno.FileInfo, now: number): boolean {
    const end = this.#base + info.size;
    const writtenAt = info.mtime?.getTime();
    // Written to, and not at its end.
    const shrunk = end < this.#end || (end === this.#end && writtenAt !== this.#writtenAt);
    this.#writtenAt = writtenAt;
    if (shrunk && info.ino === this.#inode) this.trouble = "truncated";
    if (info.ino !== this.#inode || shrunk) {
      // Replaced or truncated by somebody: what was noted beyond its end is about another content.
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
    // Nothing was written between the last mark and the last look.
    if (this.#markedAt === 0 || this.#lookedAt - this.#markedAt > PAUSE_MS) {
      marks.push({ at: Math.min(this.#lookedAt, at), end: this.#end });
    }
    const { run, startedAt } = this.process.snapshot;
    const from = run?.outputFrom?.[this.#stream] ?? -1;
    // What an app writes before the first look at it is no older than its start.
    if (from >= this.#end && startedAt !== null && startedAt > this.#lookedAt) {
      marks.push({ at: Math.min(startedAt, at), end: from });
    }
    marks.push({ at, end });
    addMarks(this.path, marks);
    if (++this.#marked % MARKS_BETWEEN_TRIMS === 0) trimMarks(this.path, 0, end);
    this.#markedAt = at;
    this.#end = end;
  }
}
