/**
 * Moves the head of a log that its app goes on appending to into an archive, so that archive and log
 * together hold every line once, whatever moment the supervisor is killed at.
 *
 * The head is copied and synced, the cut is put on record, and only then is the head removed and the
 * copy made an archive. Where the file system can collapse a file (ext4, xfs) nothing is lost: before
 * the collapse its first block becomes a hole, which tells the next supervisor that the collapse has
 * not happened yet. Elsewhere the log is truncated, and what is written in that moment is lost.
 */

import { basename, dirname } from "../npm/path.js";
import { lstatIfAny } from "../platform/stat.ts";
import { closeGap, collapseHead, cutUnit, firstHole, punchHead } from "../platform/collapse.ts";
import { ProcsupError } from "../model/errors.ts";
import {
  type Archive,
  archiveName,
  archivesEnd,
  copyPath,
  hasArchives,
  keepCopy,
  listArchives,
  listCopies,
  removeArchive,
  removeLeftovers,
} from "./archives.ts";
import { type LogPosition, readPosition, writePosition } from "./log_position.ts";
import { restartMarks } from "./time_index.ts";
import { copyHead, moveRest, sameHead, writeBack } from "./copy_head.ts";

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
  checkWritable(log);
  const before = await settle(log);
  const name = archiveName(log, options.now, before.base);
  const path = `${dirname(log)}/${name}`;
  const cut = await copyHead(log, copyPath(path), bytes, !options.collapse);
  const method = options.collapse ? "collapse" : "truncate";
  try {
    const intent = { phase: "archived", cut, method, archive: name, inode: info.ino ?? 0 } as const;
    const done = await finishCut(log, await writePosition(log, before, intent));
    if (done.base === before.base) return undefined;
  } catch (error) {
    await settle(log).then(() => Deno.remove(copyPath(path))).catch(() => {});
    throw error;
  }
  return { path, start: before.base, at: options.now, compressed: false };
}

/** Whole blocks, and never all of a file: the file system asks for both. */
function bytesToCut({ size, blksize }: Deno.FileInfo, options: RotateOptions): number {
  if (!options.collapse) return size;
  const unit = cutUnit(blksize);
  const most = Math.max(Math.floor(options.maxSizeBytes / unit), 1) * unit;
  return Math.min(Math.floor((size - 1) / unit) * unit, most);
}

/** Nothing can be cut off a log that may only be appended to: found out before it is copied. */
function checkWritable(log: string): void {
  try {
    Deno.openSync(log, { write: true }).close();
  } catch (error) {
    if ((error as { code?: string }).code !== "EPERM") throw error;
    const why = "it may only be appended to, until chattr -a changes that";
    throw new ProcsupError("wrong_state", `Cannot cut "${log}": ${why}`);
  }
}

/** Finishes or undoes what a supervisor that was killed left half done. */
export function recoverLog(log: string): Promise<void> {
  return exclusively(log, async () => {
    const { changes, base } = await settle(log);
    if (!hasArchives(log)) return;
    const end = archivesEnd(log);
    // The record was lost, or an older one was put in its place.
    if (base < end || (changes === 0 && base > 0)) {
      await writePosition(log, readPosition(log), { base: end });
    }
    for (const copy of listCopies(log)) await takeUp(log, copy);
    removeLeftovers(log);
  });
}

/** The position of a log, once a cut that was interrupted is finished or undone. */
async function settle(log: string): Promise<LogPosition> {
  const position = readPosition(log);
  return position.phase === "idle" ? position : await finishCut(log, position);
}

/**
 * What becomes of a copy whose cut is not on record, or was on a record that is lost: an archive, if
 * the log does not begin with it any more.
 */
async function takeUp(log: string, { path, start }: Archive): Promise<void> {
  const info = lstatIfAny(log);
  if (info !== undefined && (!info.isFile || await sameHead(log, path))) return;
  await finishCut(log, {
    ...readPosition(log),
    phase: "cutting",
    method: "collapse",
    base: start,
    cut: Deno.statSync(path).size,
    archive: basename(path, copyPath("")),
    inode: info?.ino ?? 0,
  });
}

async function finishCut(log: string, intent: LogPosition): Promise<LogPosition> {
  const archive = `${dirname(log)}/${intent.archive}`;
  const cut = await cutHead(log, archive, intent);
  if (cut > 0) keepCopy(archive);
  // Without the cut it would hold a second time what the log still holds.
  else if (intent.method !== "flush") await Deno.remove(copyPath(archive)).catch(() => {});
  return await writePosition(log, readPosition(log), {
    phase: "idle",
    base: intent.base + cut,
    cut: 0,
  });
}

/** How many bytes are off the log. A log that is another by now has lost them for sure. */
async function cutHead(log: string, archive: string, intent: LogPosition): Promise<number> {
  // Flushed, or not; what came since then is not thrown away, too.
  if (intent.method === "flush") return 0;
  const kept = lstatIfAny(archive);
  if (kept !== undefined) return kept.size;
  const copy = lstatIfAny(copyPath(archive));
  if (copy === undefined && intent.phase === "archived") return 0;
  const info = lstatIfAny(log);
  if (info === undefined || info.ino !== intent.inode) return copy?.size ?? intent.cut;
  return intent.method === "collapse"
    ? await cutByCollapse(log, copyPath(archive), intent)
    : await cutByTruncation(log, copyPath(archive), intent);
}

async function cutByCollapse(log: string, copy: string, intent: LogPosition): Promise<number> {
  const { blksize, size } = await Deno.lstat(log);
  const marker = cutUnit(blksize);
  if (intent.phase === "archived") {
    // Somebody else has truncated it meanwhile.
    if (size <= intent.cut) return 0;
    if (!await punchHead(log, marker)) return 0;
    await writePosition(log, intent, { phase: "cutting" });
  } else if (firstHole(log)?.start !== 0) {
    await closeGap(log, intent.cut);
    return intent.cut;
  }
  if (await collapseHead(log, intent.cut)) return intent.cut;
  const hole = firstHole(log);
  if (hole?.start === 0) await writeBack(log, copy, Math.min(hole.end, intent.cut), marker);
  return 0;
}

async function cutByTruncation(log: string, copy: string, intent: LogPosition): Promise<number> {
  if (intent.phase === "cutting") {
    return await sameHead(log, copy) ? 0 : Deno.statSync(copy).size;
  }
  await writePosition(log, intent, { phase: "cutting" });
  return moveRest(log, copy);
}

/** Empties a log and forgets its archives. Followers go on with what is written from now on. */
export function flushLog(log: string): Promise<void> {
  return exclusively(log, () => flush(log));
}

async function flush(log: string): Promise<void> {
  const info = lstatIfAny(log);
  if (info !== undefined && !info.isFile) {
    throw new ProcsupError("wrong_state", `Refusing to flush "${log}": it is not a file`);
  }
  // The app never ran: it may have no folder yet.
  if (info === undefined && listArchives(log).length === 0) return;
  if (info !== undefined) checkWritable(log);
  const before = await settle(log);
  const intent = {
    phase: "cutting",
    method: "flush",
    archive: "-",
    inode: info?.ino ?? 0,
  } as const;
  try {
    const flushing = await writePosition(log, before, intent);
    const size = lstatIfAny(log)?.size ?? 0;
    if (info !== undefined) await Deno.truncate(log, 0);
    for (const { path } of listArchives(log)) removeArchive(path);
    const base = before.base + size;
    restartMarks(log, { at: Date.now(), end: base });
    await writePosition(log, flushing, { phase: "idle", base, cut: 0 });
  } catch (error) {
    await settle(log).catch(() => {});
    throw error;
  }
}

/** Hides what a log holds from its readers. The files keep it. */
export function disownLog(log: string): Promise<void> {
  return exclusively(log, async () => {
    const size = lstatIfAny(log)?.size ?? 0;
    const position = await settle(log);
    const from = position.base + size;
    if (from > position.from) await writePosition(log, position, { from }, false);
  });
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
