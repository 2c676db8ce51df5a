/** Reads a log from a position, through its archives into the file, even while it is being rotated. */

import { type Clock, sleep, systemClock } from "../../platform/clock.ts";
import { ifAnyAsync } from "../../platform/files/stat.ts";
import { archiveAt, listArchives, openArchive } from "../write/archives.ts";
import { type LogPosition, PositionReader } from "../write/log_position.ts";
import { BLOCK_BYTES, giveBlock, readAt, takeBlock } from "./read_at.ts";
import { changing } from "../write/rotate.ts";

type Bytes = Uint8Array<ArrayBuffer>;

interface OpenArchive {
  readonly reader: ReadableStreamDefaultReader<Bytes>;
  /** Bytes that were read but not returned. */
  rest: Bytes;
}

/** Bytes that no longer exist. */
export interface Gap {
  readonly from: number;
  /** Whether they may end within a line: a file is collapsed by blocks. */
  readonly isMidLine: boolean;
}

/** Positions of a log's file, and where the output of the current process begins. */
export interface Span {
  readonly base: number;
  readonly end: number;
  /** See `LogPosition`. */
  readonly from: number;
}

/** How long a cut that an earlier supervisor left unfinished may wait to be completed by this one. */
const CUT_POLL_MS = 2;
const CUT_PATIENCE_MS = 3000;

export class LogCursor {
  #path: string;
  readonly #lends: boolean;
  readonly #clock: Clock;
  #block: Bytes | undefined;
  #positions: PositionReader;
  #file: Deno.FsFile | undefined;
  #inode = "";
  #archive: OpenArchive | undefined;
  /** Position of the next byte, see `LogPosition`. */
  position = 0;
  /** Position at which reading stops. */
  end = Infinity;
  /** Bytes up to the next ones that no longer existed when they were to be read. */
  gap: Gap | undefined;
  /** Maximum size of a chunk. */
  blockBytes = BLOCK_BYTES;

  /** With `lends`, `read()` returns its own buffer, which is valid until `giveBack()`. */
  constructor(path: string, lends = false, clock: Clock = systemClock) {
    this.#path = path;
    this.#lends = lends;
    this.#clock = clock;
    this.#positions = new PositionReader(path);
  }

  /** Takes the new path of a log that was moved; the open file moved with it. */
  moved(path: string): void {
    this.#path = path;
    this.#positions[Symbol.dispose]();
    this.#positions = new PositionReader(path);
  }

  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /** The file that is open, or was last. */
  get inode(): string {
    return this.#inode;
  }

  /** Opens the file as it is now; undefined if it does not exist. */
  async open(): Promise<Span | undefined> {
    this.close();
    return await this.consistently(async (base, from) => {
      this.#file?.close();
      this.#file = await ifAnyAsync(() => Deno.open(this.#path));
      if (this.#file === undefined) return undefined;
      const info = await this.#file.stat();
      this.#inode = identity(info);
      const end = base + info.size;
      // Another program truncated it: all of it belongs to the current process.
      return { base, end, from: from > end ? base : from };
    });
  }

  /** Reads no more than the open file has now: a later process of that name may write the rest. */
  endHere(): void {
    if (this.#file === undefined) return;
    const { phase, base } = this.#positions.read();
    // During a cut the base may not fit the file.
    if (phase === "idle") this.end = Math.min(this.end, base + this.#file.statSync().size);
  }

  /** Closes everything. `open()` may follow. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#leaveArchive();
    this.#positions[Symbol.dispose]();
  }

  /** The open file, for searching a start position. */
  get file(): Deno.FsFile {
    return this.#file!;
  }

  /** Repeats `read` until nothing was cut off the file meanwhile, and returns its result. */
  async consistently<T>(read: (base: number, from: number) => Promise<T>): Promise<T> {
    for (;;) {
      const before = await this.#settled();
      const result = await read(before.base, before.from);
      if (this.#positions.read().changes === before.changes) return result;
    }
  }

  async #settled(): Promise<LogPosition> {
    const until = this.#clock.steady() + CUT_PATIENCE_MS;
    for (;;) {
      const position = this.#positions.read();
      const cutting = position.phase === "cutting" ||
        (position.phase === "archived" && position.method === "collapse");
      if (!cutting) return position;
      // On a slow disk, a cut of this process may take any time.
      if (!changing.isTaken(this.#path) && this.#clock.steady() > until) return position;
      await sleep(CUT_POLL_MS);
    }
  }

  /** The next bytes; undefined at the current end. */
  async read(): Promise<Bytes | undefined> {
    while (this.position < this.end) {
      const found = await this.consistently((base) => this.#readFile(base));
      if (found === undefined) return undefined;
      if (found !== "archived") return this.#taken(found);
      const chunk = await this.#readArchive();
      if (chunk !== undefined) return this.#taken(chunk);
    }
    return undefined;
  }

  #taken(chunk: Bytes): Bytes {
    const kept = chunk.subarray(0, this.end - this.position);
    this.position += kept.length;
    return kept;
  }

  async #readFile(base: number): Promise<Bytes | "archived" | undefined> {
    if (this.position < base) return "archived";
    this.#leaveArchive();
    if (this.#file === undefined) return undefined;
    const block = this.#block ??= takeBlock();
    const size = Math.min(block.length, this.blockBytes);
    const count = await readAt(this.#file, this.position - base, block.subarray(0, size));
    if (this.#lends && count > 0) return block.subarray(0, count);
    const chunk = count === 0 ? undefined : block.slice(0, count);
    this.giveBack();
    return chunk;
  }

  /** Returns the lent buffer. */
  giveBack(): void {
    if (this.#block !== undefined) giveBlock(this.#block);
    this.#block = undefined;
  }

  /** Goes on at a position, as the bytes up to it no longer exist. */
  #jump(position: number, isMidLine = this.#positions.read().method === "collapse"): void {
    const from = this.gap?.from ?? this.position;
    if (position !== this.position) this.gap = { from, isMidLine };
    this.position = position;
  }

  /** Bytes from before the file's head; undefined if they no longer exist, after moving the position on. */
  async #readArchive(): Promise<Bytes | undefined> {
    const { base } = await this.#settled();
    this.#archive ??= await this.#openArchive(base);
    if (this.#archive === undefined) return undefined;
    const chunk = await nextOf(this.#archive, this.blockBytes);
    if (chunk === undefined) this.#leaveArchive();
    return chunk;
  }

  async #openArchive(base: number): Promise<OpenArchive | undefined> {
    const archives = listArchives(this.#path, base);
    const archive = archiveAt(archives, this.position);
    const stream = archive && await openArchive(archive);
    // The archive was removed, unless it was renamed just now.
    if (archive === undefined) this.#jump(base);
    if (archive === undefined || stream === undefined) return undefined;
    this.#jump(Math.max(this.position, archive.start));
    const reader = stream.getReader();
    const rest = await skip(reader, this.position - archive.start);
    if (rest !== undefined) return { reader, rest };
    // The archive ends before the position: the bytes between are lost.
    reader.cancel().catch(() => {});
    const next = archives.find(({ start }) => start > this.position);
    this.#jump(next?.start ?? base);
    return undefined;
  }

  #leaveArchive(): void {
    const archive = this.#archive;
    this.#archive = undefined;
    archive?.reader.cancel().catch(() => {});
  }

  /**
   * What happened to the file since its end was reached: `grown`, `same` or `missing`; `truncated`,
   * after which the position is its start; or `replaced` by another file.
   */
  async look(): Promise<"grown" | "same" | "missing" | "truncated" | "replaced"> {
    const now = await this.consistently(async (base) => {
      return { base, info: await ifAnyAsync(() => Deno.stat(this.#path)) };
    });
    if (now.info === undefined) return "missing";
    if (this.#file === undefined || identity(now.info) !== this.#inode) return "replaced";
    const end = now.base + now.info.size;
    if (this.position > end) {
      this.#jump(now.base, false);
      return "truncated";
    }
    return this.position < end ? "grown" : "same";
  }
}

async function nextOf(archive: OpenArchive, most: number): Promise<Bytes | undefined> {
  if (archive.rest.length === 0) archive.rest = await pieceOf(archive.reader) ?? archive.rest;
  const chunk = archive.rest.subarray(0, most);
  archive.rest = archive.rest.subarray(chunk.length);
  return chunk.length === 0 ? undefined : chunk;
}

/** A damaged archive ends at the damage. */
async function pieceOf(reader: ReadableStreamDefaultReader<Bytes>): Promise<Bytes | undefined> {
  try {
    return (await reader.read()).value;
  } catch {
    return undefined;
  }
}

/** Drops the first bytes of a stream. Returns the rest of its current chunk; undefined at the end. */
async function skip(
  reader: ReadableStreamDefaultReader<Bytes>,
  bytes: number,
): Promise<Bytes | undefined> {
  let left = bytes;
  for (;;) {
    const value = await pieceOf(reader);
    if (value === undefined) return undefined;
    if (value.length > left) return value.subarray(left);
    left -= value.length;
  }
}

function identity(info: Deno.FileInfo): string {
  return `${info.dev}:${info.ino}`;
}
