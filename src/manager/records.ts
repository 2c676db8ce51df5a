/**
 * One file a process, rewritten at every change: what a new daemon knows of it after the old one was
 * killed. It is not synced to the disk: a loss of power ends the processes too.
 */

import { parseConfig } from "../model/config_schema.ts";
import { wireKeys } from "../model/config_keys.ts";
import { messageOf } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Exit } from "../model/process_info.ts";
import { NEW, type Snapshot } from "../model/process_state.ts";
import { removeFile, replaceFile } from "../platform/atomic_file.ts";
import type { Identity, ManagedProcess } from "../process/managed_process.ts";

/** A process as it was recorded. */
export interface ProcessRecord {
  readonly identity: Identity;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
}

/** The records of a home. */
export class Records {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Puts a process on record. Throws what the file system throws. */
  write(process: Pick<ManagedProcess, "identity" | "config" | "snapshot">): void {
    replaceFile(this.#path(process.identity.id), recordText(process));
  }

  /** Forgets a process. */
  remove(id: string): void {
    removeFile(this.#path(id));
  }

  /**
   * All records, by numeric id. One that cannot be read is set aside as `*.unreadable`, never
   * deleted, and named in `problems`.
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
        records.push(parseRecord(Deno.readTextFileSync(path)));
      } catch (error) {
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
export function recordText(
  process: Pick<ManagedProcess, "identity" | "config" | "snapshot">,
): string {
  const { identity, config, snapshot } = process;
  return JSON.stringify({ version: 1, identity, config: wireKeys(config), snapshot });
}

/** The opposite of `recordText()`. Throws when the text is none of ours. */
export function parseRecord(text: string): ProcessRecord {
  const { version, identity, config, snapshot } = JSON.parse(text);
  if (version !== 1) throw new Error(`version ${JSON.stringify(version)} is not known`);
  if (typeof identity?.id !== "string" || typeof snapshot?.state !== "string") {
    throw new Error("fields are missing");
  }
  return {
    identity: { ...identity, createdAt: new Date(identity.createdAt) },
    config: parseConfig(config),
    snapshot: { ...NEW, ...snapshot, lastExit: reviveExit(snapshot.lastExit) },
  };
}

function reviveExit(exit: (Omit<Exit, "at"> & { at: string }) | null): Exit | null {
  return exit === null ? null : { ...exit, at: new Date(exit.at) };
}
