/**
 * Where a log stands in all that was ever written to it. Positions count from the first byte of the
 * first day and never change; what is cut off the head of the file moves its `base`. The side file
 * `stdout.pos` holds the base, and is the journal of a cut as well: a reader that finds the same
 * number of changes before and after its read knows that nothing was cut meanwhile.
 */

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
  cut: 0,
  method: "collapse",
  archive: "-",
  inode: 0,
};

/** Bytes of the file: one write, always of the same size, in place. */
const FILE_BYTES = 512;

/** Path of a file that belongs to a log: `stdout.log` → `stdout.pos`. */
export function besideLog(log: string, extension: string): string {
  return log.replace(/\.log$/, "") + extension;
}

/** Puts the next position of a log on record; what was written before it is given as `before`. */
export async function writePosition(
  log: string,
  before: LogPosition,
  next: Partial<LogPosition>,
): Promise<LogPosition> {
  const position = { ...before, ...next, changes: before.changes + 1 };
  using file = await Deno.open(besideLog(log, ".pos"), { write: true, create: true, mode: 0o600 });
  await file.write(new TextEncoder().encode(positionText(position)));
  await file.syncData();
  return position;
}

/** Reads a log's position again and again. */
export class PositionReader implements Disposable {
  readonly #path: string;
  readonly #buffer = new Uint8Array(FILE_BYTES);
  #file: Deno.FsFile | undefined;

  constructor(log: string) {
    this.#path = besideLog(log, ".pos");
  }

  /** What the file says now. Not a word of a file that is not there or not whole. */
  read(): LogPosition {
    this.#file ??= openIfAny(this.#path);
    if (this.#file === undefined) return UNCUT;
    this.#file.seekSync(0, Deno.SeekMode.Start);
    const count = this.#file.readSync(this.#buffer) ?? 0;
    return parsePosition(new TextDecoder().decode(this.#buffer.subarray(0, count))) ?? TORN;
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = undefined;
  }
}

/** Read in the middle of a write: as good as being cut just now. */
const TORN: LogPosition = { ...UNCUT, changes: -1, phase: "cutting" };

/** The position of a log, read once. */
export function readPosition(log: string): LogPosition {
  using reader = new PositionReader(log);
  const position = reader.read();
  return position === TORN ? UNCUT : position;
}

/** Position at which the next byte of a log will stand, for a reader that begins there. */
export function logEnd(log: string): number {
  return readPosition(log).base + Deno.statSync(log).size;
}

/** The number of changes stands at both ends, so that half a write is seen. */
function positionText(position: LogPosition): string {
  const { changes, phase, base, cut, method, archive, inode } = position;
  const words = [changes, phase, base, cut, method, archive, inode, changes];
  return `${words.join(" ").padEnd(FILE_BYTES - 1)}\n`;
}

function parsePosition(text: string): LogPosition | undefined {
  const [changes, phase, base, cut, method, archive, inode, again] = text.trimEnd().split(" ");
  if (again === undefined || changes !== again || text.length !== FILE_BYTES) return undefined;
  const numbers = { changes: Number(changes), base: Number(base), cut: Number(cut) };
  if (!Object.values(numbers).every(Number.isSafeInteger)) return undefined;
  return {
    ...numbers,
    phase: phase as Phase,
    method: method as CutMethod,
    archive: archive!,
    inode: Number(inode),
  };
}

function openIfAny(path: string): Deno.FsFile | undefined {
  try {
    return Deno.openSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
