/**
 * Keeps a record file per process. A new daemon recovers from them if the old one was killed.
 *
 * The first line has identity, configuration and snapshot; each further line has a newer snapshot.
 * Appending a line costs a hundredth of replacing the file, and each start writes several. Each line
 * is sealed separately, so that damage affects only one line. Not synced to the disk: a loss of power
 * ends the processes too.
 */

import { parseConfig } from "../model/config_schema.ts";
import { hasCode, ProcsupError } from "../model/errors.ts";
import { wireKeys } from "../model/key_spelling.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { exitOf } from "../model/process_info.ts";
import { NEW, type Snapshot } from "../model/process_state.ts";
import { appendToFile, readFileIfAny, removeFile, replaceFile } from "../platform/atomic_file.ts";
import {
  copyOf,
  readState,
  removeState,
  replaceDamaged,
  sealed,
  setAside,
  throwUndamaged,
  unsealed,
  writeState,
} from "../platform/state_file.ts";
import type { Identity } from "../process/managed_process.ts";

export interface RecordPaths {
  /** Folder of the record files. */
  readonly records: string;
  /** File of the next numeric id. */
  readonly numericId: string;
}

/** All records of a home, and the problems found in them. */
export interface FoundRecords {
  /** By numeric id. */
  readonly records: readonly ProcessRecord[];
  /** For the log of the daemon. */
  readonly problems: readonly string[];
  /** Lowest numeric id that was never used. */
  readonly nextNumericId: number;
}

export class Records {
  readonly #paths: RecordPaths;
  readonly #files = new Map<string, { readonly file: RecordFile; readonly copy: RecordFile }>();
  /** Number of the newest line of all files. */
  #number = 0;
  #keptNumericId = 0;

  constructor(paths: RecordPaths) {
    this.#paths = paths;
  }

  /** Records a process. Throws errors of the file system. */
  write(process: ProcessRecord): void {
    this.#of(process).file.write(process, ++this.#number);
  }

  /** Records a process in the copy, which may lag behind a little. */
  writeCopy(process: ProcessRecord): void {
    this.#of(process).copy.write(process, this.#number);
  }

  /** Rewrites every file at its next write. */
  beginAnew(): void {
    this.#files.clear();
    this.#keptNumericId = 0;
  }

  /** Writes the records of several processes before each is written by itself: all or none. */
  writeJoint(processes: readonly ProcessRecord[]): void {
    const lines = processes.map((process) => recordText(process, ++this.#number));
    replaceFile(this.#joint, lines.join("\n"));
  }

  /** Call it when each of them is written. */
  removeJoint(): void {
    removeFile(this.#joint);
  }

  remove(id: string): void {
    this.removeJoint();
    removeState(this.#path(id));
    this.#files.delete(id);
  }

  /** Saves the lowest unused numeric id, because the record with the highest one may be removed. */
  keepNumericId(next: number): void {
    if (next <= this.#keptNumericId) return;
    writeState(this.#paths.numericId, { next });
    this.#keptNumericId = next;
  }

  /**
   * Reads all records. Sets damaged files aside, and rebuilds their records from intact lines and
   * the copy. Throws `other_version` if a newer program wrote one.
   */
  readAll(): FoundRecords {
    const records: ProcessRecord[] = [];
    const problems: string[] = [...this.#splitJoint()];
    for (const id of this.#ids()) {
      const found = this.#read(id);
      problems.push(...found.problems);
      if (found.record !== undefined) records.push(found.record);
    }
    records.sort((a, b) => a.identity.numericId - b.identity.numericId);
    const kept = readState(this.#paths.numericId, (value) => (value as { next: number }).next);
    this.#keptNumericId = kept.value ?? 0;
    const nextNumericId = Math.max(
      this.#keptNumericId,
      ...records.map(({ identity }) => identity.numericId + 1),
    );
    return { records, problems: [...problems, ...kept.problems], nextNumericId };
  }

  /** Writes the newer ones of the joint records by themselves. Returns the problems found in them. */
  #splitJoint(): readonly string[] {
    try {
      const lines = readFileIfAny(this.#joint)?.split("\n") ?? [];
      const found = lines.map((line) => ({ line, ...parseRecordLines([line]) }));
      for (const { damage: [why] } of found) if (why !== undefined) throw why;
      for (const { line, record, number } of found) {
        const path = this.#path(record!.identity.id);
        if (number > (readLines(path).lines?.number ?? 0)) replaceFile(path, line);
      }
      this.removeJoint();
      return [];
    } catch (error) {
      throwUndamaged(error);
      return [setAside(this.#joint, error)];
    }
  }

  get #joint(): string {
    return `${this.#paths.records}/joint`;
  }

  #ids(): Set<string> {
    const ids = new Set<string>();
    for (const { name } of [...Deno.readDirSync(this.#paths.records)]) {
      // A daemon was killed while writing: the file itself is intact.
      if (/\.(tmp|next)$/.test(name)) removeFile(`${this.#paths.records}/${name}`);
      const id = /^(.+)\.json(?:\.copy)?$/.exec(name)?.[1];
      if (id !== undefined) ids.add(id);
    }
    return ids;
  }

  #read(id: string): { record: ProcessRecord | undefined; problems: readonly string[] } {
    const path = this.#path(id);
    const file = readLines(path);
    // The copy lags behind: ignore it if the file is intact.
    const isWhole = file.texts.length > 0 && file.damage.length === 0;
    const copy = isWhole ? NOTHING : readLines(copyOf(path));
    const texts = [...file.texts, ...copy.texts];
    const { record, number } = isWhole ? file.lines! : parseRecordLines(texts);
    this.#number = Math.max(this.#number, number);
    if (isWhole) return { record, problems: [] };
    const problems = copy.damage.map((why) => setAside(copyOf(path), why));
    if (record !== undefined) {
      problems.push(replaceDamaged(path, recordText(record, number), file.damage[0]));
    } else problems.push(...file.damage.map((why) => setAside(path, why)));
    return { record, problems };
  }

  #of(
    { identity: { id } }: ProcessRecord,
  ): { readonly file: RecordFile; readonly copy: RecordFile } {
    let files = this.#files.get(id);
    if (files === undefined) {
      const path = this.#path(id);
      files = { file: new RecordFile(path), copy: new RecordFile(copyOf(path)) };
      this.#files.set(id, files);
    }
    return files;
  }

  #path(id: string): string {
    return `${this.#paths.records}/${id}.json`;
  }
}

/** The content of a record file. */
interface ReadFile {
  /** Its text; empty if the file is unreadable or missing. */
  readonly texts: readonly string[];
  readonly lines?: RecordLines;
  /** The first problem found in it. */
  readonly damage: readonly unknown[];
}

const NOTHING: ReadFile = { texts: [], damage: [] };

function readLines(file: string): ReadFile {
  try {
    const text = readFileIfAny(file);
    if (text === undefined) return NOTHING;
    const lines = parseRecordLines([text]);
    return { texts: [text], lines, damage: lines.damage.slice(0, 1) };
  } catch (error) {
    throwUndamaged(error);
    return { texts: [], damage: [error] };
  }
}

/** Size at which the file is rewritten. */
const FULL_BYTES = 32 * 1024;

export interface ProcessRecord {
  readonly identity: Identity;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
}

class RecordFile {
  readonly #path: string;
  /** Content of the first line; undefined if the file must be rewritten. */
  #begun: Pick<ProcessRecord, "identity" | "config"> | undefined;
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Appends a line, or rewrites the file. Throws errors of the file system. */
  write({ identity, config, snapshot }: ProcessRecord, number: number): void {
    const begun = this.#begun;
    const goesOn = begun?.identity === identity && begun.config === config &&
      this.#bytes < FULL_BYTES;
    // Rewrite the file after a failure: it may end with half a line.
    this.#begun = undefined;
    const line = `\n${sealed({ number, snapshot })}`;
    if (goesOn && appendToFile(this.#path, line)) this.#bytes += line.length;
    else {
      const text = recordText({ identity, config, snapshot }, number);
      replaceFile(this.#path, text);
      this.#bytes = text.length;
    }
    this.#begun = { identity, config };
  }
}

/** A process as a sealed line, with its environment: only the user can read the file. */
export function recordText(process: ProcessRecord, number = 0): string {
  return sealed({ number, ...recordWire(process) });
}

/** A process as JSON. */
export function recordWire({ identity, config, snapshot }: ProcessRecord): object {
  return { version: 1, identity, config: wireKeys(config), snapshot };
}

/** The opposite of `recordWire()`. Throws if the value is not a record. */
export function parseRecord(value: unknown): ProcessRecord {
  const { version, identity, config, snapshot } = value as Record<string, unknown> & {
    identity: Identity;
    snapshot: Snapshot;
  };
  refuseNewer("a record", version);
  if (version !== 1) throw new Error(`unknown version ${JSON.stringify(version)}`);
  return {
    identity: { ...identity, createdAt: new Date(identity.createdAt) },
    config: parseConfig(config),
    snapshot: reviveSnapshot(snapshot),
  };
}

/** Throws `other_version` if a newer program wrote the format. */
export function refuseNewer(what: string, version: unknown): void {
  if (typeof version !== "number" || version <= 1) return;
  throw new ProcsupError(
    "other_version",
    `Cannot read ${what} of version ${version}: a newer procsup wrote it`,
    { hint: "Nothing was changed. Install that version, or choose another home" },
  );
}

/** The readable content of one or more record files of a process. */
interface RecordLines {
  /** Undefined if no first line is readable. */
  readonly record: ProcessRecord | undefined;
  /** Number of the newest line. */
  readonly number: number;
  readonly damage: readonly unknown[];
}

/** The newest first line and the newest snapshot of all texts. Throws `other_version`. */
export function parseRecordLines(texts: readonly string[]): RecordLines {
  const damage: unknown[] = [];
  let whole: Numbered<ProcessRecord> | undefined;
  let newest: Numbered<Snapshot> | undefined;
  for (const line of texts.flatMap((text) => text.split("\n"))) {
    try {
      const value = unsealed(line) as { number: number; snapshot: Snapshot; identity?: unknown };
      const { number } = value;
      if (value.identity !== undefined && !(whole && whole.number >= number)) {
        whole = { number, value: parseRecord(value) };
      }
      if (!(newest && newest.number > number)) {
        newest = { number, value: reviveSnapshot(value.snapshot) };
      }
    } catch (error) {
      if (hasCode(error, "other_version")) throw error;
      damage.push(error);
    }
  }
  return {
    record: whole && { ...whole.value, snapshot: newest!.value },
    number: newest?.number ?? 0,
    damage,
  };
}

interface Numbered<T> {
  readonly number: number;
  readonly value: T;
}

function reviveSnapshot(snapshot: Snapshot): Snapshot {
  return { ...NEW, ...snapshot, lastExit: exitOf(snapshot.lastExit) };
}
