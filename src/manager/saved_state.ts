/** What `save` writes and `resurrect` reads: checked, synced, with the generations before it. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { readFileIfAny, removeFile, replaceFileDurably } from "../platform/atomic_file.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { NEW, type Snapshot } from "../model/process_state.ts";
import { isJob, runBulk } from "./bulk.ts";
import type { Registry } from "./registry.ts";
import { parseRecord, type ProcessRecord, recordText, refuseNewer } from "./records.ts";

const GENERATIONS = 3;

interface SavedFile {
  readonly version: 1;
  readonly saved_at: string;
  readonly checksum: string;
  /** Records as text, so that the checksum is of exactly what is read back. */
  readonly processes: readonly string[];
}

/**
 * Saves the processes. The file before it is kept as a generation.
 * Throws `wrong_state` rather than replace a list with an empty one, unless `allowEmpty`, and
 * `home_unusable` when it cannot be written.
 */
export async function saveState(
  path: string,
  processes: readonly ManagedProcess[],
  allowEmpty: boolean,
): Promise<void> {
  const previous = await readGeneration(path);
  if (processes.length === 0 && !allowEmpty && (previous?.length ?? 0) > 0) {
    throw new ProcsupError(
      "wrong_state",
      `Cannot save an empty list over one of ${previous!.length} processes`,
      { hint: "Nothing is running; procsup resurrect brings the saved ones back" },
    );
  }
  const texts = processes.map(recordText);
  const file: SavedFile = {
    version: 1,
    saved_at: new Date().toISOString(),
    checksum: await checksum(texts),
    processes: texts,
  };
  try {
    // An unreadable file is not worth a generation, and would push out a good one.
    if (previous !== undefined) shiftGenerations(path);
    replaceFileDurably(path, JSON.stringify(file));
  } catch (cause) {
    throw new ProcsupError("home_unusable", `Cannot save the list: ${messageOf(cause)}`, { cause });
  }
}

/** The newest readable list, and what was wrong with those before it. */
export async function loadState(
  path: string,
): Promise<{ records: readonly ProcessRecord[]; problems: string[] }> {
  const problems: string[] = [];
  for (let n = 0; n < GENERATIONS; n++) {
    const generation = generationPath(path, n);
    if (readFileIfAny(generation) === undefined) continue;
    const records = await readGeneration(generation);
    if (records !== undefined) return { records, problems };
    Deno.renameSync(generation, `${generation}.unreadable`);
    problems.push(`Set aside unreadable saved state "${generation}"`);
  }
  return { records: [], problems };
}

/** What `resurrect()` did. */
export interface Resurrected {
  /** Processes that were brought back. */
  readonly count: number;
  /** What went wrong: unreadable files, starts that failed. */
  readonly errors: readonly string[];
}

/**
 * Brings back the saved processes that are not here, and starts those that were wanted up.
 * `refuseClosed` throws when the registry takes none any more.
 */
export async function resurrect(
  registry: Registry,
  path: string,
  refuseClosed: () => void,
): Promise<Resurrected> {
  const { records, problems } = await loadState(path);
  refuseClosed();
  const names = new Set(registry.list().map((process) => process.name));
  const restored = records
    .filter((record) => !names.has(record.identity.name))
    .map((record) => registry.restore({ ...record, snapshot: atRest(record.snapshot) }));
  for (const process of restored) registry.record(process);
  const wanted = restored.filter((process) =>
    process.snapshot.wish === "up" && process.config.autostart && !isJob(process)
  );
  const outcomes = await runBulk(wanted, (process) => process.start());
  const errors = outcomes.flatMap(({ error }) => error === undefined ? [] : [error.message]);
  return { count: restored.length, errors: [...problems, ...errors] };
}

/** A saved process: what ran then does not run now. */
function atRest({ wish, attempt, restarts, lastExit }: Snapshot): Snapshot {
  return { ...NEW, wish, attempt, restarts, lastExit };
}

async function readGeneration(path: string): Promise<readonly ProcessRecord[] | undefined> {
  try {
    const file = JSON.parse(await Deno.readTextFile(path)) as SavedFile;
    refuseNewer("a saved list", file.version);
    if (file.version !== 1 || file.checksum !== await checksum(file.processes)) return undefined;
    return file.processes.map(parseRecord);
  } catch (error) {
    if (error instanceof ProcsupError && error.code === "other_version") throw error;
    return undefined;
  }
}

function shiftGenerations(path: string): void {
  removeFile(generationPath(path, GENERATIONS - 1));
  for (let n = GENERATIONS - 2; n > 0; n--) {
    const from = generationPath(path, n);
    if (readFileIfAny(from) !== undefined) Deno.renameSync(from, generationPath(path, n + 1));
  }
  // Linked, not moved: there is no moment without a current file.
  Deno.linkSync(path, generationPath(path, 1));
}

function generationPath(path: string, n: number): string {
  return n === 0 ? path : path.replace(/\.json$/, `.${n}.json`);
}

async function checksum(texts: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(texts.join("\n"));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return digest.toHex();
}
