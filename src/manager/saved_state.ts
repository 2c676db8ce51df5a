/** The list that `save` writes and `resurrect` reads: sealed, synced, with older generations. */

import type { Resurrected } from "../library/options.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import {
  afresh,
  readFileIfAny,
  removeIfPossible,
  syncFolderOf,
  writeDurably,
} from "../platform/atomic_file.ts";
import { sealed, setAside, throwUndamaged, unsealed } from "../platform/state_file.ts";
import { lstatIfAny } from "../platform/stat.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { NEW, type Snapshot } from "../model/process_state.ts";
import { inWaves, runWaves, starter, stoppedSince } from "./bulk.ts";
import { refuseTaken } from "./check_config.ts";
import type { Registry } from "./registry.ts";
import { parseRecord, type ProcessRecord, recordWire, refuseNewer } from "./records.ts";

const GENERATIONS = 3;

interface SavedFile {
  readonly version: 1;
  readonly saved_at: string;
  readonly processes: readonly object[];
}

/** A saved list, and the problems of newer ones. */
interface SavedList {
  readonly records: readonly ProcessRecord[];
  readonly problems: readonly string[];
}

interface SaveWays {
  readonly allowEmpty: boolean;
  readonly warn: (message: string) => void;
}

/**
 * Saves the processes and returns their number. Keeps the previous file as a generation, and sets a
 * damaged one aside. Throws `wrong_state` rather than replace a list with an empty one, unless
 * `allowEmpty`, and `home_unusable` if it cannot be written.
 */
export function saveState(
  path: string,
  processes: readonly ManagedProcess[],
  { allowEmpty, warn }: SaveWays,
): number {
  const { records, problems } = loadState(path);
  for (const problem of problems) warn(problem);
  if (processes.length === 0 && !allowEmpty && records.length + problems.length > 0) {
    const old = problems.length > 0 ? "a damaged one" : `one of ${records.length} processes`;
    throw new ProcsupError("wrong_state", `Cannot save an empty list over ${old}`, {
      hint: "Nothing is running; procsup resurrect restores the saved apps",
    });
  }
  const file: SavedFile = {
    version: 1,
    saved_at: new Date().toISOString(),
    processes: processes.map(recordWire),
  };
  const next = `${path}.tmp`;
  try {
    // Write the new list before removing the oldest generation.
    afresh(next, () => writeDurably(next, `${sealed(file)}\n`));
    shiftGenerations(path);
    Deno.renameSync(next, path);
    syncFolderOf(path);
  } catch (cause) {
    removeIfPossible(next);
    throw new ProcsupError("home_unusable", `Cannot save the list: ${messageOf(cause)}`, { cause });
  }
  return processes.length;
}

/** The newest readable list. Damaged ones are set aside. Throws `other_version`. */
export function loadState(path: string): SavedList {
  const problems: string[] = [];
  for (let n = 0; n < GENERATIONS; n++) {
    const generation = generationPath(path, n);
    try {
      const text = readFileIfAny(generation);
      if (text !== undefined) return { records: parseSaved(text), problems };
    } catch (error) {
      throwUndamaged(error);
      problems.push(setAside(generation, error));
    }
  }
  return { records: [], problems };
}

/** Restores missing saved processes, and starts those whose desired state is up. */
export async function resurrect(registry: Registry, path: string): Promise<Resurrected> {
  registry.refuseClosed();
  const { records, problems } = loadState(path);
  // By id as well: scaling may have renamed one since.
  const present = new Set(registry.list().flatMap(({ id, name }) => [id, name]));
  const isMissing = ({ identity: { id, name } }: ProcessRecord) =>
    !present.has(id) && !present.has(name);
  const refused: string[] = [];
  const restored = registry.recorder.together(() => {
    const restored = records.filter(isMissing).flatMap((record) => {
      try {
        refuseTaken(record.config, registry.list().map(({ config }) => config));
        return registry.resurrect({ ...record, snapshot: atRest(record) });
      } catch (error) {
        refused.push(messageOf(error));
        return [];
      }
    });
    for (const process of restored) registry.recordSoon(process);
    // Those that stayed may have been scaled since.
    const counts = new Map(restored.map(({ config }) => [config.name, config.instances]));
    for (const process of registry.list()) {
      const instances = counts.get(process.config.name) ?? process.config.instances;
      if (instances !== process.config.instances) process.recount(instances);
    }
    return restored;
  });
  const wanted = restored.filter(({ snapshot }) => snapshot.pending !== null);
  const start = starter(stoppedSince(wanted));
  const outcomes = await runWaves(inWaves(wanted), (process) => start(process));
  const errors = outcomes.flatMap(({ error }) => error === undefined ? [] : [error.message]);
  return { count: restored.length, errors: [...problems, ...refused, ...errors] };
}

/** The snapshot of a saved process without its run, which has ended; to be started if it was up. */
function atRest({ snapshot, config: { autostart, cron } }: ProcessRecord): Snapshot {
  const { desired, attempt, restarts, lastExit } = snapshot;
  const isStarted = desired === "up" && autostart && cron === undefined;
  const pending = isStarted ? { verb: "start" } as const : null;
  return { ...NEW, desired, pending, attempt, restarts, lastExit };
}

function parseSaved(text: string): readonly ProcessRecord[] {
  const { version, processes } = unsealed(text) as SavedFile;
  refuseNewer("a saved list", version);
  return processes.map(parseRecord);
}

function shiftGenerations(path: string): void {
  if (lstatIfAny(path) === undefined) return;
  for (let n = GENERATIONS - 2; n > 0; n--) {
    const from = generationPath(path, n);
    if (lstatIfAny(from) !== undefined) Deno.renameSync(from, generationPath(path, n + 1));
  }
  // Linked, not moved, so that a current file always exists.
  Deno.linkSync(path, generationPath(path, 1));
}

function generationPath(path: string, n: number): string {
  return n === 0 ? path : path.replace(/\.json$/, `.${n}.json`);
}
