/**
 * One file a process: what a new daemon knows of it after the old one was killed. The first line says
 * who it is and how it is configured, each further one how it stands since. A line more costs a
 * hundredth of a file replaced, and each start makes several. Not synced to the disk: a loss of power
 * ends the processes too.
 */

import { parseConfig } from "../model/config_schema.ts";
import { wireKeys } from "../model/config_keys.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Exit } from "../model/process_info.ts";
import { NEW, type Snapshot } from "../model/process_state.ts";
import { appendToFile, removeFile, replaceFile } from "../platform/atomic_file.ts";
import type { Identity, ManagedProcess } from "../process/managed_process.ts";

/** A file that has grown beyond this is begun anew. */
const FULL_BYTES = 32 * 1024;

/** What is recorded of a process. */
type Recordable = Pick<ManagedProcess, "identity" | "config" | "snapshot">;

/** A file as this program has begun it. */
interface Begun {
  readonly identity: Identity;
  readonly config: ProcessConfig;
  bytes: number;
}

/** A process as it was recorded. */
export interface ProcessRecord {
  readonly identity: Identity;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
}

/** The records of a home. */
export class Records {
  readonly #folder: string;
  readonly #begun = new Map<string, Begun>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Puts a process on record. Throws what the file system throws. */
  write(process: Recordable): void {
    const { identity, config, snapshot } = process;
    const path = this.#path(identity.id);
    const begun = this.#begun.get(identity.id);
    const same = begun?.identity === identity && begun.config === config;
    if (same && begun.bytes < FULL_BYTES) {
      // The newline comes first: half a line of a full disk spoils none but itself.
      const line = `\n${JSON.stringify({ snapshot })}`;
      begun.bytes += line.length;
      if (appendToFile(path, line)) return;
    }
    const text = recordText(process);
    replaceFile(path, text);
    this.#begun.set(identity.id, { identity, config, bytes: text.length });
  }

  /** Forgets a process. */
  remove(id: string): void {
    this.#begun.delete(id);
    removeFile(this.#path(id));
  }

  /**
   * All records, by numeric id. One that cannot be read is set aside as `*.unreadable`, never
   * deleted, and named in `problems`. Throws `other_version` for what a newer program wrote.
   */
  readAll(): { records: ProcessRecord[]; problems: string[] } {
    const records: ProcessRecord[] = [];
    const problems: string[] = [];
    for (const entry of [...Deno.readDirSync(this.#folder)]) {
      const path = `${this.#folder}/${entry.name}`;
      // Left by a daemon that was killed while it wrote: the file beside it is whole.
      if (entry.name.endsWith(".tmp")) removeFile(path);
      if (!entry.name.endsWith(".json")) continue;
      try {
        records.push(parseRecordFile(Deno.readTextFileSync(path)));
      } catch (error) {
        if (error instanceof ProcsupError && error.code === "other_version") throw error;
        Deno.renameSync(path, `${path}.unreadable`);
        problems.push(`Set aside unreadable record "${path}": ${messageOf(error)}`);
      }
    }
    records.sort((a, b) => a.identity.numericId - b.identity.numericId);
    return { records, problems };
  }

  #path(id: string): string {
    return `${this.#folder}/${id}.json`;
  }
}

/** A process as JSON text, its environment included: the file is the user's alone. */
export function recordText({ identity, config, snapshot }: Recordable): string {
  return JSON.stringify({ version: 1, identity, config: wireKeys(config), snapshot });
}

/** The opposite of `recordText()`. Throws when the text is none of ours. */
export function parseRecord(text: string): ProcessRecord {
  const { version, identity, config, snapshot } = JSON.parse(text);
  refuseNewer("a record", version);
  if (version !== 1) throw new Error(`version ${JSON.stringify(version)} is not known`);
  if (typeof identity?.id !== "string" || typeof snapshot?.state !== "string") {
    throw new Error("fields are missing");
  }
  return {
    identity: { ...identity, createdAt: new Date(identity.createdAt) },
    config: parseConfig(config),
    snapshot: reviveSnapshot(snapshot),
  };
}

/** Throws `other_version` for the version of a format that is newer than the one written here. */
export function refuseNewer(what: string, version: unknown): void {
  if (typeof version !== "number" || version <= 1) return;
  throw new ProcsupError(
    "other_version",
    `Cannot read ${what} of version ${version}: a newer procsup wrote it`,
    { hint: "Nothing was changed. Install that version, or choose another home" },
  );
}

/** The first line of a record file, with the last whole snapshot behind it. */
export function parseRecordFile(text: string): ProcessRecord {
  const [first = "", ...later] = text.split("\n");
  const record = parseRecord(first);
  const snapshot = later.map(snapshotOf).findLast((snapshot) => snapshot !== undefined);
  return snapshot === undefined ? record : { ...record, snapshot };
}

/** Undefined when the line was cut short. */
function snapshotOf(line: string): Snapshot | undefined {
  try {
    return reviveSnapshot(JSON.parse(line).snapshot);
  } catch {
    return undefined;
  }
}

function reviveSnapshot(snapshot: Snapshot): Snapshot {
  return { ...NEW, ...snapshot, lastExit: reviveExit(snapshot.lastExit) };
}

/** In JSON its time is a text. */
function reviveExit(exit: Exit | null): Exit | null {
  return exit === null ? null : { ...exit, at: new Date(exit.at) };
}
