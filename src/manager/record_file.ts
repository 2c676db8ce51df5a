/**
 * The file of one process's record. The first line has identity, configuration and snapshot; each
 * further line has a newer snapshot. Appending a line costs a hundredth of replacing the file, and
 * each start writes several. Each line is sealed separately, so that damage affects only one line.
 * Not synced to the disk: a loss of power ends the processes too.
 */

import { wireKeys } from "../model/key_spelling.ts";
import { parseConfig } from "../model/config_schema.ts";
import { hasCode, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { exitOf } from "../model/process_info.ts";
import { NEW, type Snapshot } from "../model/process_state.ts";
import { appendToFile, replaceFile } from "../platform/atomic_file.ts";
import { sealed, unsealed } from "../platform/state_file.ts";
import type { Identity } from "../process/managed_process.ts";

/** Size at which the file is rewritten. */
const FULL_BYTES = 32 * 1024;

export interface ProcessRecord {
  readonly identity: Identity;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
}

export class RecordFile {
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
export interface RecordLines {
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
