/**
 * Moves the head of a log, to which its app keeps appending, into an archive. Archive and log together
 * hold every line exactly once, even if the supervisor is killed.
 *
 * The head is copied and synced, and the cut is recorded, before the head is removed and the copy
 * becomes an archive. Where the file system can collapse files (ext4, xfs), nothing is lost: before the
 * collapse its first block becomes a hole, which tells a later supervisor that the collapse has not
 * happened. Elsewhere the log is truncated, and what is written at that moment is lost.
 */

import { lstatIfAny } from "../../platform/files/stat.ts";
import {
  closeGap,
  collapseHead,
  cutUnit,
  firstHole,
  punchHead,
} from "../../platform/files/collapse.ts";
import { ProcsupError } from "../../model/errors.ts";
import {
  type Archive,
  archivesEnd,
  archiveSuffix,
  copyPath,
  hasArchives,
  keepCopy,
  listArchives,
  listCopies,
  removeArchive,
  removeLeftovers,
} from "./archives.ts";
import {
  type LogPosition,
  readPosition,
  recordedPosition,
  refuseForeignFolder,
  writePosition,
} from "./log_position.ts";
import { restartMarks } from "./time_index.ts";
import { copyHead, copyHollow, isHollow, moveRest, sameHead, writeBack } from "./copy_head.ts";
import { Turns } from "../../platform/concurrency.ts";

interface RotateOptions {
  /** Approximate size of an archive; at least one block. */
  readonly maxSizeBytes: number;
  /** Whether the file system can cut the head off a file. */
  readonly collapse: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Size from which a log with this block size can be rotated. */
export function rotationSize(maxSizeBytes: number, blockSize: number | null): number {
  return Math.max(maxSizeBytes, cutUnit(blockSize));
}

/** This process's cuts, flushes and recoveries, by the path of the log. */
export const changing = new Turns();

function change<T>(log: string, act: () => Promise<T>): Promise<T> {
  return changing.take(async () => {
    refuseForeignFolder(log);
    return await act();
  }, log);
}

/**
 * Rotates a log once. Returns the new archive; undefined if there was nothing to cut, or the file
 * system cannot. Throws errors of the file system, such as a full disk, and leaves the log as it was.
 */
export function rotateLog(log: string, options: RotateOptions): Promise<Archive | undefined> {
  return change(log, () => rotate(log, options));
}

async function rotate(log: string, options: RotateOptions): Promise<Archive | undefined> {
  const info = await Deno.lstat(log);
  const bytes = bytesToCut(info, options);
  const { now } = options;
  const method = options.collapse ? "collapse" : "truncate";
  return await cutOff(
    log,
    { info, bytes, method, now },
    (path) => copyHead(log, path, bytes, method === "truncate"),
  );
}

/**
 * Cuts off, without an archive, what is before the last bytes of a log, and removes all archives: for
 * a log that grows faster than it can be copied. The file system must be able to collapse files.
 * Returns the number of bytes cut off.
 */
export function dropHead(log: string, keptBytes: number, now: number): Promise<number> {
  return change(log, async () => {
    const info = await Deno.lstat(log);
    const unit = cutUnit(info.blksize);
    const bytes = Math.floor((info.size - keptBytes) / unit) * unit;
    const cut = { info, bytes, method: "collapse", now } as const;
    const archive = await cutOff(log, cut, (path) => copyHollow(log, path, bytes, unit));
    if (archive === undefined) return 0;
    removeUpTo(log, archive);
    return bytes;
  });
}

interface Cut {
  readonly info: Deno.FileInfo;
  readonly bytes: number;
  readonly method: "collapse" | "truncate";
  readonly now: number;
}

/** Makes the copy of a head, then cuts off the head. Returns the new archive, if any. */
async function cutOff(
  log: string,
  { info, bytes, method, now }: Cut,
  copy: (path: string) => Promise<number>,
): Promise<Archive | undefined> {
  if (!info.isFile || bytes <= 0) return undefined;
  checkWritable(log);
  const before = await settle(log);
  const suffix = archiveSuffix(now, before.base);
  const path = log + suffix;
  const cut = await copy(copyPath(path));
  try {
    const intent = {
      phase: "archived",
      cut,
      method,
      archive: suffix,
      inode: info.ino ?? 0,
    } as const;
    const done = await finishCut(log, await writePosition(log, before, intent));
    if (done.base === before.base) return undefined;
  } catch (error) {
    await settle(log).then(() => Deno.remove(copyPath(path))).catch(() => {});
    throw error;
  }
  return { path, start: before.base, at: now, compressed: false };
}

function removeUpTo(log: string, last: Archive): void {
  for (const { path, start } of listArchives(log)) if (start <= last.start) removeArchive(path);
}

/** A collapse needs whole blocks, and must leave some of the file. */
function bytesToCut({ size, blksize }: Deno.FileInfo, options: RotateOptions): number {
  if (!options.collapse) return size;
  const unit = cutUnit(blksize);
  const most = Math.max(Math.floor(options.maxSizeBytes / unit), 1) * unit;
  return Math.min(Math.floor((size - 1) / unit) * unit, most);
}

/** Refuses an append-only log, before it is copied in vain. */
function checkWritable(log: string): void {
  try {
    Deno.openSync(log, { write: true }).close();
  } catch (error) {
    if ((error as { code?: string }).code !== "EPERM") throw error;
    const why = "it is append-only; to change that: chattr -a";
    throw new ProcsupError("wrong_state", `Cannot cut "${log}": ${why}`);
  }
}

/** Finishes or undoes a rotation that was interrupted. Returns the position. */
export function recoverLog(log: string): Promise<LogPosition> {
  return change(log, async () => {
    // Every first start comes here: its folder is listed only once.
    if (!hasArchives(log)) return await settle(log, recordedPosition(log));
    const { changes, base } = await settle(log);
    const end = archivesEnd(log);
    // The position file was lost, or replaced by an older one.
    if (base < end || (changes === 0 && base > 0)) {
      await writePosition(log, readPosition(log), { base: end });
    }
    for (const copy of listCopies(log)) await takeUp(log, copy);
    removeLeftovers(log);
    const hollow = listArchives(log).findLast(isHollow);
    if (hollow !== undefined) removeUpTo(log, hollow);
    return readPosition(log);
  });
}

/** The position of a log, after finishing or undoing an interrupted cut. */
async function settle(log: string, position = readPosition(log)): Promise<LogPosition> {
  return position.phase === "idle" ? position : await finishCut(log, position);
}

/** Handles a copy whose cut is not recorded: it becomes an archive if the log no longer begins with it. */
async function takeUp(log: string, { path, start }: Archive): Promise<void> {
  const info = lstatIfAny(log);
  if (info !== undefined && (!info.isFile || await sameHead(log, path))) return;
  await finishCut(log, {
    ...readPosition(log),
    phase: "cutting",
    method: "collapse",
    base: start,
    cut: Deno.statSync(path).size,
    archive: path.slice(log.length, -copyPath("").length),
    inode: info?.ino ?? 0,
  });
}

async function finishCut(log: string, intent: LogPosition): Promise<LogPosition> {
  const archive = log + intent.archive;
  const cut = await cutHead(log, archive, intent);
  if (cut > 0) keepCopy(archive);
  // Without the cut, the copy would duplicate what the log still holds.
  else if (intent.method !== "flush") await Deno.remove(copyPath(archive)).catch(() => {});
  return await writePosition(log, readPosition(log), {
    phase: "idle",
    base: intent.base + cut,
    cut: 0,
  });
}

/** Cuts off the head. Returns how many bytes are off the log; a replaced log has lost them all. */
async function cutHead(log: string, archive: string, intent: LogPosition): Promise<number> {
  // Whether or not it was flushed, keep what was written since.
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
    // Another program has truncated it meanwhile.
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
  if (intent.phase === "cutting") return await sameHead(log, copy) ? 0 : Deno.statSync(copy).size;
  await writePosition(log, intent, { phase: "cutting" });
  return moveRest(log, copy);
}

/** Empties a log and removes its archives. Followers continue with new content. */
export function flushLog(log: string): Promise<void> {
  return change(log, () => flush(log));
}

async function flush(log: string): Promise<void> {
  const info = lstatIfAny(log);
  if (info !== undefined && !info.isFile) {
    throw new ProcsupError("wrong_state", `Cannot flush "${log}": it is not a file`);
  }
  // The app never ran, so it may have no folder.
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

/** Hides the content of a log from readers, without removing it. */
export function disownLog(log: string): Promise<void> {
  return change(log, async () => {
    const position = await settle(log);
    const size = lstatIfAny(log)?.size ?? 0;
    const from = position.base + size;
    if (from > position.from) await writePosition(log, position, { from }, false);
  });
}
