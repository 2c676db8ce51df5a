/**
 * Moves the head of a log that its app goes on appending to into an archive, so that archive and log
 * together hold every line once, whatever moment the supervisor is killed at.
 *
 * The head is copied and synced, the cut is put on record, and only then is the head removed. Where
 * the file system can collapse a file (ext4, xfs) nothing is lost: before the collapse its first
 * block becomes a hole, which tells the next supervisor that the collapse has not happened yet.
 * Elsewhere the log is truncated, and what is written in that moment is lost.
 */

import { dirname } from "../platform/paths.ts";
import { beginsWithHole, collapseHead, cutUnit, punchHead } from "../platform/collapse.ts";
import { ProcsupError } from "../model/errors.ts";
import {
  type Archive,
  archiveName,
  listArchives,
  removeArchive,
  removeLeftovers,
} from "./archives.ts";
import { besideLog, type LogPosition, readPosition, writePosition } from "./log_position.ts";
import { copyHead, sameHead, writeBack } from "./copy_head.ts";

/** How a log is rotated. */
export interface RotateOptions {
  /** Bytes of an archive, roughly; never less than a block. */
  readonly maxSizeBytes: number;
  /** Whether the file system can cut the head off a file. */
  readonly collapse: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Size from which a log of that block size has something to rotate. */
export function rotationSize(maxSizeBytes: number, blockSize: number | null): number {
  return Math.max(maxSizeBytes, cutUnit(blockSize));
}

/**
 * Rotates a log once; the new archive, undefined when there was nothing to cut or the file system
 * refused to. Throws what the file system throws (no space, above all): the log is as it was then.
 */
export function rotateLog(log: string, options: RotateOptions): Promise<Archive | undefined> {
  return exclusively(log, () => rotate(log, options));
}

async function rotate(log: string, options: RotateOptions): Promise<Archive | undefined> {
  const info = await Deno.lstat(log);
  const bytes = bytesToCut(info, options);
  if (!info.isFile || bytes <= 0) return undefined;
  const before = readPosition(log);
  const path = `${dirname(log)}/${archiveName(log, options.now, before.base)}`;
  const cut = await copyHead(log, path, bytes, !options.collapse);
  const intent = await recordIntent(log, path, before, {
    phase: "archived",
    cut,
    method: options.collapse ? "collapse" : "truncate",
    archive: path.slice(path.lastIndexOf("/") + 1),
    inode: info.ino ?? 0,
  });
  const done = await finishCut(log, intent);
  if (done.base === before.base) return undefined;
  return { path, start: before.base, at: options.now, compressed: false };
}

/** An archive whose cut could not be put on record is of no use, and would be found later. */
async function recordIntent(
  log: string,
  archive: string,
  before: LogPosition,
  intent: Partial<LogPosition>,
): Promise<LogPosition> {
  try {
    return await writePosition(log, before, intent);
  } catch (error) {
    removeArchive(archive);
    throw error;
  }
}

/** Whole blocks, and never all of a file: the file system asks for both. */
function bytesToCut({ size, blksize }: Deno.FileInfo, options: RotateOptions): number {
  if (!options.collapse) return size;
  const unit = cutUnit(blksize);
  const most = Math.max(Math.floor(options.maxSizeBytes / unit), 1) * unit;
  return Math.min(Math.floor((size - 1) / unit) * unit, most);
}

/** Finishes or undoes what a supervisor that was killed left half done. */
export function recoverLog(log: string): Promise<void> {
  return exclusively(log, async () => {
    const position = readPosition(log);
    const done = position.phase === "idle" ? position : await finishCut(log, position);
    removeLeftovers(log, done.base);
  });
}

async function finishCut(log: string, intent: LogPosition): Promise<LogPosition> {
  const done = await cutHead(log, intent);
  // Without the cut the archive would hold a second time what the log still holds.
  if (!done && intent.method !== "flush") removeArchive(`${dirname(log)}/${intent.archive}`);
  return await writePosition(log, readPosition(log), {
    phase: "idle",
    base: intent.base + (done ? intent.cut : 0),
    cut: 0,
  });
}

/** Whether the bytes are off the log. A log that is another by now has lost them for sure. */
async function cutHead(log: string, intent: LogPosition): Promise<boolean> {
  const archive = `${dirname(log)}/${intent.archive}`;
  const info = await Deno.lstat(log).catch(() => undefined);
  if (info === undefined || info.ino !== intent.inode) return true;
  // Flushed, or not; what came since then is not thrown away, too.
  if (intent.method === "flush") return false;
  return intent.method === "collapse"
    ? await cutByCollapse(log, archive, intent)
    : await cutByTruncation(log, archive, intent);
}

async function cutByCollapse(log: string, archive: string, intent: LogPosition): Promise<boolean> {
  const { blksize, size } = await Deno.lstat(log);
  const marker = cutUnit(blksize);
  if (intent.phase === "archived") {
    // Somebody else has truncated it meanwhile.
    if (size <= intent.cut) return false;
    if (!await punchHead(log, marker)) return false;
    await writePosition(log, intent, { phase: "cutting" });
  } else if (!beginsWithHole(log)) {
    return true;
  }
  if (await collapseHead(log, intent.cut)) return true;
  if (beginsWithHole(log)) await writeBack(log, archive, marker);
  return false;
}

async function cutByTruncation(
  log: string,
  archive: string,
  intent: LogPosition,
): Promise<boolean> {
  if (intent.phase === "cutting") return !await sameHead(log, archive);
  await writePosition(log, intent, { phase: "cutting" });
  await Deno.truncate(log, 0);
  return true;
}

/** Empties a log and forgets its archives. Followers go on with what is written from now on. */
export function flushLog(log: string): Promise<void> {
  return exclusively(log, () => flush(log));
}

async function flush(log: string): Promise<void> {
  const info = await Deno.lstat(log).catch(() => undefined);
  if (info !== undefined && !info.isFile) {
    throw new ProcsupError("wrong_state", `Refusing to flush "${log}": it is not a file`);
  }
  // The app never ran: it may have no folder yet.
  if (info === undefined && listArchives(log).length === 0) return;
  const before = readPosition(log);
  const flushing = await writePosition(log, before, {
    phase: "cutting",
    method: "flush",
    archive: "-",
    inode: info?.ino ?? 0,
  });
  const size = info === undefined ? 0 : (await Deno.lstat(log)).size;
  if (info !== undefined) await Deno.truncate(log, 0);
  for (const { path } of listArchives(log)) removeArchive(path);
  await Deno.remove(besideLog(log, ".idx")).catch(() => {});
  await writePosition(log, flushing, { phase: "idle", base: before.base + size, cut: 0 });
}

const busy = new Map<string, Promise<unknown>>();

/** One change of a log at a time, whoever in this process asks for it. */
function exclusively<T>(log: string, act: () => Promise<T>): Promise<T> {
  const before = busy.get(log) ?? Promise.resolve();
  const done = before.then(act, act);
  busy.set(log, done);
  const forget = () => {
    if (busy.get(log) === done) busy.delete(log);
  };
  done.then(forget, forget);
  return done;
}
