/**
 * Where a log stands in all that was ever written to it. Positions count from the first byte of the
 * first day and never change; what is cut off the head of the file moves its `base`. The side file
 * `stdout.log.pos` holds the base, and is the journal of a cut as well: a reader that finds the same
 * number of changes before and after its read knows that nothing was cut meanwhile. When it is
 * missing or damaged, the archives tell the base.
 */

import { archivesEnd } from "./archives.ts";

/** How bytes leave a log: cut at the head, archived and truncated, or flushed. */
export type CutMethod = "collapse" | "truncate" | "flush";

/**
 * `idle`; `archived`: the archive is whole and nothing is cut yet; `cutting`: the file may or may not
 * be cut by now (a collapse is not done as long as the file begins with a hole).
 */
export type Phase = "idle" | "archived" | "cutting";

/** What a position file says. */
export interface LogPosition {
  /** Number of changes so far. */
  readonly changes: number;
  readonly phase: Phase;
  /** Position of the first byte of the file. */
  readonly base: number;
  /** Position where the output of the present process begins; before it is a deleted namesake's. */
  readonly from: number;
  /** The cut under way: bytes, file name of the archive, inode of the log. */
  readonly cut: number;
  readonly method: CutMethod;
  readonly archive: string;
  readonly inode: number;
}

/** The position of a log from which nothing was cut yet. */
export const UNCUT: LogPosition = {
  changes: 0,
  phase: "idle",
  base: 0,
  from: 0,
  cut: 0,
  method: "collapse",
  archive: "-",
  inode: 0,
};

/** Bytes of the file: one write, always of the same size, in place. */
const FILE_BYTES = 512;

/** Path of a file that belongs to a log: `stdout.log` → `stdout.log.pos`. */
export function besideLog(log: string, extension: ".pos" | ".idx"): string {
  return log + extension;
}

/**
 * Puts the next position of a log on record; what was written before it is given as `before`. Without
 * `synced` it outlives the supervisor, but not a loss of power.
 */
export async function writePosition(
  log: string,
  before: LogPosition,
  next: Partial<LogPosition>,
  synced = true,
): Promise<LogPosition> {
  const position = { ...before, ...next, changes: before.changes + 1 };
  using file = await Deno.open(besideLog(log, ".pos"), { write: true, create: true, mode: 0o600 });
  await file.write(new TextEncoder().encode(positionText(position)));
  if (synced) await file.syncData();
  return position;
}

/** Reads a log's position again and again. */
export class PositionReader implements Disposable {
  readonly #log: string;
  readonly #path: string;
  readonly #buffer = new Uint8Array(FILE_BYTES);
  #file: Deno.FsFile | undefined;
  #rebuilt: LogPosition | undefined;

  constructor(log: string) {
    this.#log = log;
    this.#path = besideLog(log, ".pos");
  }

  /** What the file says now; what the archives say when it is missing or damaged. */
  read(): LogPosition {
    return this.recorded() ?? (this.#rebuilt ??= { ...UNCUT, base: archivesEnd(this.#log) });
  }

  /** What the file says now; undefined when it is missing or damaged. */
  recorded(): LogPosition | undefined {
    this.#file ??= openIfAny(this.#path);
    // A read in the middle of a write looks like damage, once.
    return this.#file && (this.#parsed(this.#file) ?? this.#parsed(this.#file));
  }

  #parsed(file: Deno.FsFile): LogPosition | undefined {
    file.seekSync(0, Deno.SeekMode.Start);
    const count = file.readSync(this.#buffer) ?? 0;
    return parsePosition(new TextDecoder().decode(this.#buffer.subarray(0, count)));
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = undefined;
    this.#rebuilt = undefined;
  }
}

/** The position of a log, read once. */
export function readPosition(log: string): LogPosition {
  using reader = new PositionReader(log);
  return reader.read();
}

/**
 * Position at which the next byte of a log will stand, for a reader that begins there. Every start
 * asks for it, so that a log without a record counts as uncut: its archives are not looked for.
 */
export function logEnd(log: string): number {
  using reader = new PositionReader(log);
  return (reader.recorded() ?? UNCUT).base + Deno.statSync(log).size;
}

/** The words, and behind them their checksum. */
function positionText(position: LogPosition): string {
  const { changes, phase, base, from, cut, method, archive, inode } = position;
  const words = [changes, phase, base, from, cut, method, archive, inode].join(" ");
  return `${`${words} ${checksum(words)}`.padEnd(FILE_BYTES - 1)}\n`;
}

function parsePosition(text: string): LogPosition | undefined {
  const whole = /^((\d+) (\w+) (\d+) (\d+) (\d+) (\w+) (\S+) (\d+)) (\w+) *\n$/.exec(text);
  if (whole === null || text.length !== FILE_BYTES) return undefined;
  const [, words, changes, phase, base, from, cut, method, archive, inode, sum] = whole;
  if (sum !== checksum(words!)) return undefined;
  return {
    changes: Number(changes),
    phase: phase as Phase,
    base: Number(base),
    from: Number(from),
    cut: Number(cut),
    method: method as CutMethod,
    archive: archive!,
    inode: Number(inode),
  };
}

/** FNV-1a: no single flipped bit leaves it the same. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16);
}

function openIfAny(path: string): Deno.FsFile | undefined {
  try {
    return Deno.openSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
