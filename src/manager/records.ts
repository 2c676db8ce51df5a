/**
 * Keeps a record file per app and per process. A new daemon recovers from them if the old one was
 * killed.
 *
 * The first line has identity and snapshot, or the app with its configurations; each further line
 * has a newer snapshot, or the app without them.
 * Appending a line costs a hundredth of replacing the file, and each start writes several. Each line
 * is sealed separately, so that damage affects only one line. Not synced to the disk: a loss of power
 * ends the processes too.
 */

import type { App } from "../model/app.ts";
import { parseConfig } from "../model/config_schema.ts";
import { hasCode, ProcsupError } from "../model/errors.ts";
import { wireKeys } from "../model/key_spelling.ts";
import { isMap, type Keyed } from "../model/merge_patch.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { exitOf } from "../model/process_info.ts";
import { NEW, type Snapshot } from "../model/process_state.ts";
import {
  appendToFile,
  readFileIfAny,
  removeFile,
  replaceFile,
} from "../platform/files/atomic_file.ts";
import {
  checksum,
  copyOf,
  readState,
  removeState,
  replaceDamaged,
  sealed,
  setAside,
  throwUndamaged,
  unsealed,
  writeState,
} from "../platform/files/state_file.ts";
import type { Identity } from "../process/process_actor.ts";

export interface RecordPaths {
  /** Folder of the record files. */
  readonly records: string;
  /** File of the next numeric id. */
  readonly numericId: string;
}

/** All records of a home, and the problems found in them. */
export interface FoundRecords {
  readonly apps: readonly App[];
  /** By numeric id. */
  readonly records: readonly ProcessRecord[];
  /** For the log of the daemon. */
  readonly problems: readonly string[];
  /** Lowest numeric id that was never used. */
  readonly nextNumericId: number;
}

export class Records {
  readonly #paths: RecordPaths;
  readonly #files = new Map<string, Files>();
  /** Number of the newest line of all files. */
  #number = 0;
  #keptNumericId = 0;

  constructor(paths: RecordPaths) {
    this.#paths = paths;
  }

  /** Records an app or a process. Throws errors of the file system. */
  write(record: AnyRecord): void {
    const { file, configs } = this.#of(record);
    file.write(record, ++this.#number, configs);
  }

  /** Records it in the copy, which may lag behind a little. */
  writeCopy(record: AnyRecord): void {
    const { copy, configs } = this.#of(record);
    copy.write(record, this.#number, configs);
  }

  /** Rewrites every file at its next write. */
  beginAnew(): void {
    this.#files.clear();
    this.#keptNumericId = 0;
  }

  /** Writes several records before each is written by itself: all or none. */
  writeJoint(records: readonly AnyRecord[]): void {
    const lines = records.map((record) =>
      recordText(record, ++this.#number, this.#of(record).configs)
    );
    replaceFile(this.#joint, lines.join("\n"));
  }

  /** Call it when each of them is written. */
  removeJoint(): void {
    removeFile(this.#joint);
  }

  remove(record: AnyRecord): void {
    this.removeJoint();
    const key = keyOf(record);
    removeState(this.#path(key));
    this.#files.delete(key);
  }

  /** Sets the record of a process aside that cannot be restored. Returns what to log. */
  giveUp(record: ProcessRecord, why: Error): string {
    removeFile(copyOf(this.#path(keyOf(record))));
    return setAside(this.#path(keyOf(record)), why);
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
    const apps: App[] = [];
    const records: ProcessRecord[] = [];
    const problems: string[] = [...this.#splitJoint()];
    for (const key of this.#keys()) {
      const found = this.#read(key);
      problems.push(...found.problems);
      if (found.record === undefined) continue;
      if (isProcess(found.record)) records.push(found.record);
      else apps.push(found.record);
    }
    records.sort((a, b) => a.identity.numericId - b.identity.numericId);
    const kept = readState(this.#paths.numericId, (value) => (value as { next: number }).next);
    this.#keptNumericId = kept.value ?? 0;
    const nextNumericId = Math.max(
      this.#keptNumericId,
      ...records.map(({ identity }) => identity.numericId + 1),
    );
    return { apps, records, problems: [...problems, ...kept.problems], nextNumericId };
  }

  /** Writes the newer ones of the joint records by themselves. Returns the problems found in them. */
  #splitJoint(): readonly string[] {
    try {
      const lines = readFileIfAny(this.#joint)?.split("\n") ?? [];
      const found = lines.map((line) => ({ line, ...parseRecordLines([line]) }));
      for (const { damage: [why] } of found) if (why !== undefined) throw why;
      for (const { line, record, number } of found) {
        const path = this.#path(keyOf(record!));
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

  #keys(): Set<string> {
    const keys = new Set<string>();
    for (const { name } of [...Deno.readDirSync(this.#paths.records)]) {
      // A daemon was killed while writing: the file itself is intact.
      if (/\.(tmp|next)$/.test(name)) removeFile(`${this.#paths.records}/${name}`);
      const key = /^(.+)\.json(?:\.copy)?$/.exec(name)?.[1];
      if (key !== undefined) keys.add(key);
    }
    return keys;
  }

  #read(key: string): { record: AnyRecord | undefined; problems: readonly string[] } {
    const path = this.#path(key);
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

  #of(record: AnyRecord): Files {
    const key = keyOf(record);
    const known = this.#files.get(key) ?? newFiles(this.#path(key));
    const files = isProcess(record)
      ? known
      : { ...known, configs: configsOf(record, known.configs) };
    this.#files.set(key, files);
    return files;
  }

  #path(key: string): string {
    return `${this.#paths.records}/${key}.json`;
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
  readonly snapshot: Snapshot;
}

export type AnyRecord = App | ProcessRecord;

/** What has a record. */
export interface Recorded {
  readonly name: string;
  readonly record: AnyRecord;
}

/** Identifies a record among all. No id of a process has a dot. */
export function keyOf(record: AnyRecord): string {
  return isProcess(record) ? record.identity.id : `${record.name}.app`;
}

export function isProcess(record: AnyRecord): record is ProcessRecord {
  return "identity" in record;
}

/** The configurations of an app in wire form, with keys by their content. */
type Configs = ReadonlyMap<ProcessConfig, { readonly key: string; readonly wire: Keyed }>;

const NO_CONFIGS: Configs = new Map();

/** Reuses the configurations of `known`, which are converted already. */
function configsOf({ specs }: App, known: Configs = NO_CONFIGS): Configs {
  return new Map(specs.map(({ config }) => {
    const given = known.get(config);
    if (given !== undefined) return [config, given];
    const wire = wireKeys(config);
    return [config, { key: checksum(JSON.stringify(wire)), wire }];
  }));
}

/** The files of a record. */
interface Files {
  readonly file: RecordFile;
  readonly copy: RecordFile;
  /** Of an app; empty for a process. */
  readonly configs: Configs;
}

function newFiles(path: string): Files {
  return { file: new RecordFile(path), copy: new RecordFile(copyOf(path)), configs: NO_CONFIGS };
}

/**
 * The part of the first line that further lines refer to: the identity of a process, or the keys of
 * an app's configurations.
 */
type Head = Identity | ReadonlySet<string>;

class RecordFile {
  readonly #path: string;
  /** Of the first line; undefined if the file must be rewritten. */
  #head: Head | undefined;
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Appends a line, or rewrites the file. Throws errors of the file system. */
  write(record: AnyRecord, number: number, configs: Configs): void {
    let head = this.#bytes < FULL_BYTES ? this.#head : undefined;
    // Rewrite the file after a failure: it may end with half a line.
    this.#head = undefined;
    const changed = head && changedPart(record, head, configs);
    const line = changed && `\n${sealed({ number, ...changed })}`;
    if (line !== undefined && appendToFile(this.#path, line)) this.#bytes += line.length;
    else {
      head = isProcess(record) ? record.identity : configKeys(configs);
      const text = recordText(record, number, configs);
      replaceFile(this.#path, text);
      this.#bytes = text.length;
    }
    this.#head = head;
  }
}

/** The part of a record that changes; undefined if the first line lacks what it refers to. */
function changedPart(record: AnyRecord, head: Head, configs: Configs): object | undefined {
  if (isProcess(record)) {
    return record.identity === head ? { snapshot: record.snapshot } : undefined;
  }
  const isThere = configKeys(configs).isSubsetOf(head as ReadonlySet<string>);
  return isThere ? { app: appWire(record, configs) } : undefined;
}

function configKeys(configs: Configs): ReadonlySet<string> {
  return new Set(Array.from(configs.values(), ({ key }) => key));
}

/** A record as a sealed line, with an app's environment: only the user can read the file. */
export function recordText(record: AnyRecord, number = 0, configs?: Configs): string {
  return sealed({ number, ...recordWire(record, configs) });
}

/** A record as JSON. */
export function recordWire(record: AnyRecord, given?: Configs): object {
  if (isProcess(record)) {
    const { identity, snapshot } = record;
    return { version: 1, identity, snapshot };
  }
  const all = given ?? configsOf(record);
  const configs = Object.fromEntries(Array.from(all.values(), ({ key, wire }) => [key, wire]));
  return { version: 1, configs, app: appWire(record, all) };
}

/** Generations may share a configuration. */
function appWire(app: App, configs: Configs): object {
  const specs = app.specs.map(({ generation, config }) => ({
    generation,
    config: configs.get(config)!.key,
  }));
  return { ...app, specs };
}

/** The opposite of `recordWire()`. Throws if the value is not a record. */
export function parseRecord(value: unknown): AnyRecord {
  const { version, identity, snapshot, configs, app } = value as Line;
  refuseNewer("a record", version);
  if (version !== 1) throw new Error(`unknown version ${JSON.stringify(version)}`);
  if (app !== undefined) {
    const parsed = new Map<string, ProcessConfig>();
    const specs = app.specs.map(({ generation, config: key }) => {
      const config = parsed.get(key) ?? parseConfig(configs?.[key]);
      parsed.set(key, config);
      return { generation, config };
    });
    return { ...app, specs };
  }
  return {
    identity: { ...identity!, createdAt: new Date(identity!.createdAt) },
    snapshot: reviveSnapshot(snapshot!),
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

/** The readable content of one or more files of a record. */
interface RecordLines {
  /** Undefined if no first line is readable. */
  readonly record: AnyRecord | undefined;
  /** Number of the newest line. */
  readonly number: number;
  readonly damage: readonly unknown[];
}

/**
 * The newest state in all texts, with the identity or the configurations in their first lines. Skips
 * a state whose configurations are lost. Throws `other_version`.
 */
export function parseRecordLines(texts: readonly string[]): RecordLines {
  const damage: unknown[] = [];
  const attempt = <T>(act: () => T): T | undefined => {
    try {
      return act();
    } catch (error) {
      if (hasCode(error, "other_version")) throw error;
      damage.push(error);
      return undefined;
    }
  };
  const lines = texts.flatMap((text) => text.split("\n"))
    .flatMap((line) => attempt(() => readLine(line)) ?? [])
    .sort((one, other) => other.number - one.number);
  const heads = lines.filter(({ version }) => version !== undefined);
  const configs = Object.assign({}, ...heads.map(({ configs }) => configs));
  let record: AnyRecord | undefined;
  for (const line of lines) {
    record ??= attempt(() => parseRecord({ ...heads[0], ...line, configs }));
  }
  return { record, number: lines[0]?.number ?? 0, damage };
}

function readLine(line: string): Line {
  const value = unsealed(line);
  if (!isMap(value)) throw new Error("not a record");
  return value as unknown as Line;
}

/** A line of a record file. Only a first one has a version. */
interface Line {
  readonly number: number;
  readonly version?: unknown;
  readonly identity?: Identity;
  readonly snapshot?: Snapshot;
  /** In wire form, by key. */
  readonly configs?: Readonly<Record<string, unknown>>;
  readonly app?: Omit<App, "specs"> & {
    readonly specs: readonly { readonly generation: number; readonly config: string }[];
  };
}

function reviveSnapshot(snapshot: Snapshot): Snapshot {
  return { ...NEW, ...snapshot, lastExit: exitOf(snapshot.lastExit) };
}
