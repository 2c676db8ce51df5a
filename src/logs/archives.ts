/** What was rotated out of a log: files beside it, named by their time and their first position. */

import { dirname } from "../platform/paths.ts";

/** One archive of a log. */
export interface Archive {
  readonly path: string;
  /** Position of its first byte. */
  readonly start: number;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  readonly compressed: boolean;
}

/** `stdout.log.20261121T031944Z.10485760.gz` */
const NAME = /^\.(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.(\d+)(\.gz)?$/;

/** File name of a new archive of a log. */
export function archiveName(log: string, at: number, start: number): string {
  const time = new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");
  return `${basename(log)}.${time}.${start}`;
}

/**
 * The archives of a log that hold something from before `base`, by position. One that begins at the
 * base or after it belongs to a cut that never was.
 */
export function listArchives(log: string, base = Infinity): Archive[] {
  const folder = dirname(log);
  const prefix = basename(log);
  const archives = new Map<number, Archive>();
  for (const name of namesIn(folder)) {
    if (!name.startsWith(prefix)) continue;
    const parts = NAME.exec(name.slice(prefix.length));
    if (parts === null) continue;
    const [, y, mo, d, h, mi, s, start, gz] = parts;
    const archive = {
      path: `${folder}/${name}`,
      start: Number(start),
      at: Date.UTC(+y!, +mo! - 1, +d!, +h!, +mi!, +s!),
      compressed: gz !== undefined,
    };
    // Being compressed: both are there for a moment, and hold the same.
    if (archive.start < base && !(archives.has(archive.start) && archive.compressed)) {
      archives.set(archive.start, archive);
    }
  }
  return [...archives.values()].sort((a, b) => a.start - b.start);
}

/** The archive that holds a position, or else the first one after it. */
export function archiveAt(archives: readonly Archive[], position: number): Archive | undefined {
  return archives.findLast(({ start }) => start <= position) ?? archives[0];
}

/** The bytes of an archive; undefined when it is gone by now. */
export async function openArchive(
  archive: Archive,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>> | undefined> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(archive.path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  if (!archive.compressed) return file.readable;
  return file.readable.pipeThrough(new DecompressionStream("gzip"));
}

/** Which archives a log keeps. */
export interface Retention {
  readonly maxFiles: number;
  readonly maxAgeMs: number;
}

/** Removes the archives that are too many or too old. */
export function pruneArchives(log: string, { maxFiles, maxAgeMs }: Retention, now: number): void {
  const archives = listArchives(log).reverse();
  archives.forEach(({ path, at }, index) => {
    if (index >= maxFiles || now - at > maxAgeMs) removeArchive(path);
  });
}

/** Removes an archive in both its forms. */
export function removeArchive(path: string): void {
  const plain = path.replace(/\.gz$/, "");
  for (const each of [plain, `${plain}.gz`]) {
    try {
      Deno.removeSync(each);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** Clears away what a rotation that was interrupted left: halves, and archives of a cut that never was. */
export function removeLeftovers(log: string, base: number): void {
  const folder = dirname(log);
  const prefix = `${basename(log)}.`;
  const names = namesIn(folder).filter((name) => name.startsWith(prefix));
  for (const name of names) {
    const start = Number(NAME.exec(name.slice(prefix.length - 1))?.[7]);
    const doubled = !name.endsWith(".gz") && names.includes(`${name}.gz`);
    if (name.endsWith(".tmp") || start >= base || doubled) Deno.removeSync(`${folder}/${name}`);
  }
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
