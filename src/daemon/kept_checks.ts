/** Keeps the last health checks of each process in a file, so that their answers outlive the daemon. */

import type { Supervisor } from "../manager/supervisor.ts";
import { readFileIfAny, replaceFile } from "../platform/files/atomic_file.ts";
import { namesIn } from "../platform/files/stat.ts";
import { sealed, setAside, unsealed } from "../platform/files/state_file.ts";
import type { HealthCheckRun } from "../process/journal.ts";
import type { ManagedProcess } from "../process/managed_process.ts";

/** How often passed checks are written. Failures are written at each call of `write()`. */
const EVERY_MS = 120_000;

export class KeptChecks {
  readonly #supervisor: Pick<Supervisor, "directory" | "writes" | "warn">;
  readonly #folder: string;
  /** What was written last, by the id of the process. */
  readonly #written = new Map<string, readonly HealthCheckRun[]>();
  #wroteAllAt = -Infinity;

  /** Restores the checks that an earlier daemon kept. */
  constructor(supervisor: Pick<Supervisor, "directory" | "writes" | "warn">, folder: string) {
    this.#supervisor = supervisor;
    this.#folder = folder;
    const kept = new Set(namesIn(folder));
    for (const { id, journal } of supervisor.directory.list()) {
      if (!kept.has(nameFor(id))) continue;
      journal.restoreChecks(this.#read(id));
      this.#written.set(id, journal.checks);
    }
  }

  /** Writes new failures; every two minutes also passed checks, and removes those of deleted processes. */
  write(now: number): void {
    const isForAll = now - this.#wroteAllAt >= EVERY_MS;
    if (isForAll) this.#wroteAllAt = now;
    const processes = this.#supervisor.directory.list();
    for (const process of processes) {
      const { id, journal: { checks } } = process;
      const known = this.#written.get(id) ?? [];
      if (checks === known || checks.length === 0) continue;
      const isNew = (run: HealthCheckRun) => !known.includes(run);
      if (!isForAll && !checks.some((run) => run.problem !== "" && isNew(run))) continue;
      this.#supervisor.writes.attempt(`the last health checks of "${process.name}"`, () => {
        Deno.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
        replaceFile(this.#path(id), sealed({ version: 1, checks }));
      });
      this.#written.set(id, checks);
    }
    if (isForAll) {
      this.#supervisor.writes.attempt(
        "the health checks of deleted apps",
        () => this.#prune(processes),
      );
    }
  }

  #prune(processes: readonly ManagedProcess[]): void {
    const used = new Set(processes.map(({ id }) => nameFor(id)));
    for (const name of namesIn(this.#folder)) {
      if (!used.has(name)) Deno.removeSync(`${this.#folder}/${name}`);
    }
  }

  #read(id: string): readonly HealthCheckRun[] {
    const path = this.#path(id);
    const text = readFileIfAny(path);
    if (text === undefined) return [];
    try {
      return checksIn(unsealed(text));
    } catch (error) {
      this.#supervisor.warn(setAside(path, error));
      return [];
    }
  }

  #path(id: string): string {
    return `${this.#folder}/${nameFor(id)}`;
  }
}

function nameFor(id: string): string {
  return `${id}.json`;
}

function checksIn(value: unknown): readonly HealthCheckRun[] {
  const { version, checks } = Object(value) as { version?: unknown; checks?: unknown };
  const isCheck = (run: Partial<HealthCheckRun>) =>
    typeof run.at === "number" && typeof run.latencyMs === "number" &&
    typeof run.problem === "string";
  if (version !== 1 || !Array.isArray(checks) || !checks.every((run) => isCheck(Object(run)))) {
    throw new Error("it has no checks");
  }
  return checks as readonly HealthCheckRun[];
}
