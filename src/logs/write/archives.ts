/** Archives of a log: files beside it, named by their time and first position. */

import { basename, dirname } from "@std/path";
import { removeFile } from "../../platform/files/atomic_file.ts";
import { ifAny, ifAnyAsync, namesIn } from "../../platform/files/stat.ts";

export interface Archive {
  readonly path: string;
  /** Position of its first byte in the log. */
  readonly start: number;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  readonly compressed: boolean;
}

/** Example: `stdout.log.20261121T031944Z.10485760.gz`, with the suffix `.tmp` while being written. */
const NAME = /^\.(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.(\d+)(\.gz)?(\.tmp)?$/;

/** Size of an empty gzip file. */
const GZIP_LEAST = 18;

/** What follows the path of a log in that of its archive. */
export function archiveSuffix(at: number, start: number): string {
  const time = new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");
  return `.${time}.${start}`;
}

/** The archives of a log that begin before `base`, by position. One that begins later is not finished. */
export function listArchives(log: string, base = Infinity): Archive[] {
  const archives = new Map<number, Archive>();
  for (const { archive, isWhole } of filesOf(log)) {
    if (!isWhole || archive.start >= base) continue;
    // While an archive is compressed, both forms exist with the same content.
    if (archive.compressed && archives.has(archive.start)) continue;
    archives.set(archive.start, archive);
  }
  return [...archives.values()].sort((a, b) => a.start - b.start);
}

/** All archive files of a log, including unfinished ones. */
function filesOf(log: string): { archive: Archive; isWhole: boolean }[] {
  const folder = dirname(log);
  const prefix = basename(log);
  return namesIn(folder).filter((name) => name.startsWith(prefix)).flatMap((name) => {
    const parts = NAME.exec(name.slice(prefix.length));
    if (parts === null) return [];
    const [, y, mo, d, h, mi, s, start, gz, tmp] = parts;
    const archive = {
      path: `${folder}/${name}`,
      start: Number(start),
      at: Date.UTC(+y!, +mo! - 1, +d!, +h!, +mi!, +s!),
      compressed: gz !== undefined,
    };
    return [{ archive, isWhole: tmp === undefined }];
  });
}

/** Position after the last archived byte; 0 without archives. */
export function archivesEnd(log: string): number {
  const last = listArchives(log).at(-1);
  return last === undefined ? 0 : last.start + bytesIn(last);
}

/** Uncompressed size of an archive. Gzip stores it at the end, modulo 4 GiB. */
function bytesIn({ path, compressed }: Archive): number {
  using file = Deno.openSync(path);
  const { size } = file.statSync();
  if (!compressed || size < GZIP_LEAST) return size;
  const number = new Uint8Array(4);
  file.seekSync(-number.length, Deno.SeekMode.End);
  file.readSync(number);
  return new DataView(number.buffer).getUint32(0, true);
}

/** The archive that contains a position, otherwise the first one after it. */
export function archiveAt(archives: readonly Archive[], position: number): Archive | undefined {
  return archives.findLast(({ start }) => start <= position) ?? archives[0];
}

/** The bytes of an archive; undefined if it no longer exists. */
export async function openArchive(
  archive: Archive,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>> | undefined> {
  const file = await ifAnyAsync(() => Deno.open(archive.path));
  if (file === undefined || !archive.compressed) return file?.readable;
  return file.readable.pipeThrough(new DecompressionStream("gzip"));
}

interface Retention {
  readonly maxFiles: number;
  readonly maxAgeMs: number;
}

/** Removes archives that are too old or exceed the limit. Returns the kept ones and the number removed. */
export function pruneArchives(
  log: string,
  { maxFiles, maxAgeMs }: Retention,
  now: number,
): { kept: readonly Archive[]; removed: number } {
  const all = listArchives(log);
  const isKept = ({ at }: Archive, index: number) =>
    all.length - index <= maxFiles && now - at <= maxAgeMs;
  const kept = all.filter(isKept);
  for (const { path } of all.filter((one) => !kept.includes(one))) removeArchive(path);
  return { kept, removed: all.length - kept.length };
}

/** Removes both forms of an archive. */
export function removeArchive(path: string): void {
  const plain = path.replace(/\.gz$/, "");
  removeFile(plain);
  removeFile(`${plain}.gz`);
}

/** Path of the copy that becomes an archive after its bytes are cut off the log. */
export function copyPath(archive: string): string {
  return `${archive}.tmp`;
}

/** Turns a copy into an archive. Does nothing if it is one already. */
export function keepCopy(archive: string): void {
  ifAny(() => Deno.renameSync(copyPath(archive), archive));
}

/** Copies that have not become archives. */
export function listCopies(log: string): Archive[] {
  return filesOf(log).filter(({ archive, isWhole }) => !isWhole && !archive.compressed)
    .map(({ archive }) => archive);
}

/** Whether archive files of a log exist, even unfinished ones. */
export function hasArchives(log: string): boolean {
  return filesOf(log).length > 0;
}

/** Removes what an interruption left: copies, and archives that exist in both forms. */
export function removeLeftovers(log: string): void {
  const files = filesOf(log);
  const whole = new Set(files.filter(({ isWhole }) => isWhole).map(({ archive }) => archive.path));
  for (const { archive: { path }, isWhole } of files) {
    if (!isWhole || whole.has(`${path}.gz`)) Deno.removeSync(path);
  }
}

/** Position of the first byte that exists. */
export function firstPosition(log: string, base: number): number {
  return listArchives(log, base)[0]?.start ?? base;
}

/** Start of the archive with the bytes before a position. */
export function startOfArchive(log: string, base: number, position: number): number {
  return listArchives(log, base).findLast(({ start }) => start < position)?.start ?? 0;
}
