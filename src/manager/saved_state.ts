/** The list that `save` writes and `resurrect` reads: sealed, synced, with older generations. */

import type { Resurrected } from "../library/options.ts";
import { type App, newApp, wantedConfig } from "../model/app.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import {
  afresh,
  readFileIfAny,
  removeIfPossible,
  syncFolderOf,
  writeDurably,
} from "../platform/files/atomic_file.ts";
import { sealed, setAside, throwUndamaged, unsealed } from "../platform/files/state_file.ts";
import { lstatIfAny } from "../platform/files/stat.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { NEW, type Snapshot } from "../model/process_state.ts";
import { inWaves, runWaves, starter, stoppedSince } from "./bulk.ts";
import { refuseTaken } from "./check_config.ts";
import type { Registry } from "./registry.ts";
import { parseRecord, type ProcessRecord, recordWire, refuseNewer } from "./records.ts";

const GENERATIONS = 3;

interface SavedFile {
  readonly version: 1;
  readonly saved_at: string;
  readonly apps: readonly object[];
  readonly processes: readonly object[];
}

/** A saved list, and the problems of newer ones. */
interface SavedList {
  readonly apps: readonly App[];
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
  registry: Registry,
  { allowEmpty, warn }: SaveWays,
): number {
  const processes = registry.directory.list();
  const { records, problems } = loadState(path);
  for (const problem of problems) warn(problem);
  if (processes.length === 0 && !allowEmpty && records.length + problems.length > 0) {
    const old = problems.length > 0 ? "a damaged one" : `one of ${records.length} processes`;
    throw new ProcsupError("wrong_state", `Cannot save an empty list over ${old}`, {
      hint: {
        text: "Nothing is running; restore the saved apps",
        command: { verb: "resurrect" },
      },
    });
  }
  const file: SavedFile = {
    version: 1,
    saved_at: new Date().toISOString(),
    apps: registry.directory.apps().map(({ record }) => recordWire(savedApp(record))),
    processes: processes.map(({ record }) => recordWire(record)),
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
      if (text !== undefined) return { ...parseSaved(text), problems };
    } catch (error) {
      throwUndamaged(error);
      problems.push(setAside(generation, error));
    }
  }
  return { apps: [], records: [], problems };
}

/** Restores missing saved processes, and starts those whose desired state is up. */
export async function resurrect(registry: Registry, path: string): Promise<Resurrected> {
  registry.refuseClosed();
  const { apps, records, problems } = loadState(path);
  // By id as well: scaling may have renamed one since.
  const present = new Set(registry.directory.list().flatMap(({ id, name }) => [id, name]));
  const isMissing = ({ identity: { id, name } }: ProcessRecord) =>
    !present.has(id) && !present.has(name);
  const refused: string[] = [];
  const restored = registry.recorder.together(() =>
    records.filter(isMissing).flatMap((record) => {
      try {
        return registry.resurrect(record, appOf(registry, apps, record), atRest);
      } catch (error) {
        refused.push(messageOf(error));
        return [];
      }
    })
  );
  const wanted = restored.filter(({ snapshot }) => snapshot.pending !== null);
  const start = starter(stoppedSince(wanted));
  const outcomes = await runWaves(inWaves(wanted), (process) => start(process));
  const errors = outcomes.flatMap(({ error }) => error === undefined ? [] : [error.message]);
  return { count: restored.length, errors: [...problems, ...refused, ...errors] };
}

/** The app of a saved process. One that exists stays as it is. Throws if it cannot be restored. */
function appOf(registry: Registry, apps: readonly App[], { identity }: ProcessRecord): App {
  const present = registry.directory.app(identity.app);
  if (present !== undefined) return present.record;
  const app = apps.find(({ name }) => name === identity.app);
  if (app === undefined) throw new Error(`"${identity.name}" was saved without its configuration`);
  refuseTaken(wantedConfig(app), registry.directory.configs());
  return app;
}

/** An app without its releases: what is saved is restored as a whole. */
function savedApp(app: App): App {
  return { ...newApp(wantedConfig(app)), name: app.name };
}

/** The snapshot of a saved process without its run, which has ended; to be started if it was up. */
function atRest({ snapshot }: ProcessRecord, { autostart, cron }: ProcessConfig): Snapshot {
  const { desired, attempt, restarts, lastExit } = snapshot;
  const isStarted = desired === "up" && autostart && cron === undefined;
  const pending = isStarted ? { verb: "start" } as const : null;
  return { ...NEW, desired, pending, attempt, restarts, lastExit };
}

function parseSaved(text: string): { apps: readonly App[]; records: readonly ProcessRecord[] } {
  const { version, apps, processes } = unsealed(text) as SavedFile;
  refuseNewer("a saved list", version);
  return {
    apps: apps.map((app) => parseRecord(app) as App),
    records: processes.map((record) => parseRecord(record) as ProcessRecord),
  };
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
