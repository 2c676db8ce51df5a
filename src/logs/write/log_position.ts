/**
 * Positions in a log. They count from the first byte ever written and never change; cutting off the
 * head of the file moves its `base`. The side file `stdout.log.pos` holds the base and is also the journal
 * of a cut: if a reader finds the same number of changes before and after a read, nothing was cut
 * meanwhile. If it is missing or damaged, the base follows from the archives.
 */

import { ProcsupError } from "../../model/errors.ts";
import { dirname } from "@std/path";
import { ifAny, lstatIfAny } from "../../platform/files/stat.ts";
import { checksum } from "../../platform/files/state_file.ts";
import { sharedFileProblem } from "../../platform/files/way.ts";
import { archivesEnd } from "./archives.ts";

/** How bytes leave a log: cut off at the head, archived and truncated, or flushed. */
type CutMethod = "collapse" | "truncate" | "flush";

/**
 * `archived`: the archive is complete and nothing is cut yet. `cutting`: the file may or may not be cut
 * (a collapse is not done while the file begins with a hole).
 */
type Phase = "idle" | "archived" | "cutting";

/** Content of a position file. */
export interface LogPosition {
  /** Number of changes so far. */
  readonly changes: number;
  readonly phase: Phase;
  /** Position of the first byte of the file. */
  readonly base: number;
  /**
   * Where the output of the current process begins. A deleted process of the same name wrote what
   * is before.
   */
  readonly from: number;
  /** The current cut: bytes, suffix of the archive (see `archiveSuffix()`), inode of the log. */
  readonly cut: number;
  readonly method: CutMethod;
  readonly archive: string;
  readonly inode: number;
}

/** The position of a log that was never cut. */
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

/** Size of the file, so that it is replaced by a single write. */
const FILE_BYTES = 512;

/** Path of a side file of a log: `stdout.log` → `stdout.log.pos`. */
export function besideLog(log: string, extension: ".pos" | ".idx"): string {
  return log + extension;
}

/**
 * Call it before writing a file beside a log. Throws `wrong_state` if another user could replace the
 * file by a link: the folder of a log outside of the home may have been given away since the start.
 */
export function refuseForeignFolder(log: string): void {
  const folder = lstatIfAny(dirname(log));
  const isClosed = folder?.uid === Deno.uid() && (folder.mode! & 0o077) === 0;
  const problem = isClosed ? undefined : sharedFileProblem(log);
  if (problem === undefined) return;
  throw new ProcsupError("wrong_state", `Cannot change "${log}" any more: ${problem}`, {
    hint: "Give its folder back to root, or to the daemon's user",
  });
}

/**
 * Writes the next position of a log; `before` is the last one written. Without `synced` it survives the
 * supervisor, but not a power failure.
 */
export async function writePosition(
  log: string,
  before: LogPosition,
  next: Partial<LogPosition>,
  synced = true,
): Promise<LogPosition> {
  refuseForeignFolder(log);
  const position = { ...before, ...next, changes: before.changes + 1 };
  using file = await Deno.open(besideLog(log, ".pos"), { write: true, create: true, mode: 0o600 });
  await file.write(new TextEncoder().encode(positionText(position)));
  if (synced) await file.syncData();
  return position;
}

/** Reads the position of a log repeatedly. */
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

  /** The current position, from the archives if the file is missing or damaged. */
  read(): LogPosition {
    return this.recorded() ?? (this.#rebuilt ??= { ...UNCUT, base: archivesEnd(this.#log) });
  }

  /** The content of the file; undefined if it is missing or damaged. */
  recorded(): LogPosition | undefined {
    this.#file ??= ifAny(() => Deno.openSync(this.#path));
    // A read during a write looks like damage: try again once.
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

export function readPosition(log: string): LogPosition {
  using reader = new PositionReader(log);
  return reader.read();
}

/** Like `readPosition()`, without a search for archives: without a position file, it is uncut. */
export function recordedPosition(log: string): LogPosition {
  using reader = new PositionReader(log);
  return reader.recorded() ?? UNCUT;
}

/** End position of a log, where the next byte goes. Every start needs it: it does not search archives. */
export function logEnd(log: string): number {
  return recordedPosition(log).base + Deno.statSync(log).size;
}

/** The fields in the order in which they are written. */
const FIELDS = Object.keys(UNCUT) as (keyof LogPosition)[];

/** The fields, followed by their checksum. */
function positionText(position: LogPosition): string {
  const words = FIELDS.map((field) => position[field]).join(" ");
  return `${`${words} ${checksum(words)}`.padEnd(FILE_BYTES - 1)}\n`;
}

function parsePosition(text: string): LogPosition | undefined {
  const [, words, sum] = /^(.+) (\w+) *\n$/.exec(text) ?? [];
  if (words === undefined || text.length !== FILE_BYTES || sum !== checksum(words)) {
    return undefined;
  }
  const values = words.split(" ").map((word, index) =>
    typeof UNCUT[FIELDS[index]!] === "number" ? Number(word) : word
  );
  return Object.fromEntries(
    FIELDS.map((field, index) => [field, values[index]]),
  ) as unknown as LogPosition;
}
