/**
 * The alerts of apps, jobs and the host. Compares their figures with the conditions after each
 * measurement of the metrics history, and publishes an event when an alert fires or is resolved. The
 * states are on disk: the next daemon neither loses an alert nor reports it again. Without alerts
 * nothing is read.
 */

import {
  type AlertState,
  type Condition,
  growth,
  isMet,
  nextState,
  OVERDUE,
  parseCondition,
  QUIET,
  valueText,
} from "../model/alert_rules.ts";
import type { Supervisor } from "../manager/supervisor.ts";
import { HOST } from "../model/name.ts";
import type { AlertConfig } from "../model/process_config.ts";
import { Turns } from "../platform/concurrency.ts";
import { readState, writeState } from "../platform/files/state_file.ts";
import { diskOf, type DiskSpace } from "../platform/host.ts";
import { ManagedProcess } from "../process/managed_process.ts";
import type { AlertJson } from "../protocol/wire.ts";
import type { MetricsHistory, Reading } from "./metrics_history.ts";
import { FINE, plan, type Sample } from "./metrics_ring.ts";

interface AlertsParts {
  readonly supervisor: Supervisor;
  readonly history: Pick<MetricsHistory, "points">;
  /** The file with the alerts of the host, and the states of all alerts. */
  readonly path: string;
  /** `disk.free` is that of its file system. */
  readonly home: string;
}

/** An alert of a process, or of the host. */
interface Alert extends AlertConfig {
  readonly process: ManagedProcess | undefined;
  readonly condition: Condition;
}

/** The state of an alert on disk; the id is empty for the host. */
interface Standing extends AlertState {
  readonly id: string;
  readonly name: string;
  readonly when: string;
}

/** The figures of one look. */
interface Figures {
  readonly samples: ReadonlyMap<string, Sample>;
  /** Figures that are counted within a time, by the key of the alert. */
  readonly counts: ReadonlyMap<string, number>;
  /** Names of the processes whose run is missing. */
  readonly overdue: ReadonlySet<string>;
  readonly disk: DiskSpace;
  readonly memory: number;
}

export class Alerts {
  readonly #parts: AlertsParts;
  readonly #turns = new Turns();
  #host: readonly AlertConfig[] = [];
  /** The states of alerts that fire or whose condition holds, by their keys. */
  readonly #standings = new Map<string, Standing>();
  /** The values of the last look as text, by the key of the alert. */
  readonly #values = new Map<string, string>();

  constructor(parts: AlertsParts) {
    this.#parts = parts;
    this.#restore();
  }

  #restore(): void {
    const { path, supervisor: { warn } } = this.#parts;
    const { value, problems } = readState(path, (value) => {
      const { version, ...memory } = value as Memory & { readonly version: number };
      if (version !== 1) throw new Error(`unknown version ${JSON.stringify(version)}`);
      return memory;
    });
    for (const problem of problems) warn(problem);
    this.#host = value?.host ?? [];
    for (const one of value?.standings ?? []) this.#standings.set(keyOf(one.id, one.when), one);
  }

  /** The alerts of the host. */
  get host(): readonly AlertConfig[] {
    return this.#host;
  }

  /** Sets the alerts of the host. */
  configure(host: readonly AlertConfig[]): void {
    if (host.length + this.#host.length === 0) return;
    this.#host = host;
    this.#save();
  }

  /** All alerts with their states. */
  list(): AlertJson[] {
    return this.#all().map(({ process, when }) => {
      const key = keyOf(process?.id, when);
      const { met, since, firingSince } = this.#standings.get(key) ?? QUIET;
      const at = firingSince ?? (met ? since : undefined);
      return {
        name: process?.name ?? HOST,
        when,
        state: firingSince !== null ? "firing" : met ? "pending" : "ok",
        since: at === undefined ? null : new Date(at).toISOString(),
        value: this.#values.get(key) ?? "",
      };
    });
  }

  /** Checks all alerts. Call it after the history has written the readings of a time. */
  look(at: number, readings: readonly Reading[]): Promise<void> {
    const { directory } = this.#parts.supervisor;
    const isUsed = this.#host.length + this.#standings.size > 0 ||
      directory.list().some(({ config }) => config.alerts.length > 0);
    return isUsed ? this.#turns.take(() => this.#look(at, readings)) : Promise.resolve();
  }

  async #look(at: number, readings: readonly Reading[]): Promise<void> {
    const figures = await this.#figures(at, readings);
    const known = new Set<string>();
    let isChanged = false;
    this.#values.clear();
    for (const { process, when, resolveAfterMs, condition } of this.#all()) {
      const { id, name } = process ?? { id: "", name: HOST };
      const key = keyOf(id, when);
      const value = valueOf(condition, name, figures, key);
      const before = this.#standings.get(key) ?? QUIET;
      const { forMs } = condition;
      const now = nextState(before, isMet(condition, value), at, { forMs, resolveAfterMs });
      const text = valueText(condition, value);
      known.add(key);
      this.#values.set(key, text);
      if (now.met || now.firingSince !== null) this.#standings.set(key, { id, name, when, ...now });
      else this.#standings.delete(key);
      isChanged ||= now.met !== before.met || now.firingSince !== before.firingSince;
      if ((now.firingSince === null) === (before.firingSince === null)) continue;
      const reason = text === "" ? when : `${when}: ${text}`;
      this.#publish(process ?? { id, name }, when, now.firingSince !== null, reason);
    }
    for (const [key, { id, name, when, firingSince }] of [...this.#standings]) {
      if (known.has(key)) continue;
      this.#standings.delete(key);
      isChanged = true;
      if (firingSince === null) continue;
      const process = this.#parts.supervisor.directory.list().find((one) => one.id === id);
      const what = process === undefined && id !== "" ? "app" : "alert";
      this.#publish(process ?? { id, name }, when, false, `${when}: the ${what} was removed`);
    }
    // After the events: killed in between, the next daemon reports twice rather than never.
    if (isChanged) this.#save();
  }

  #all(): Alert[] {
    const { directory } = this.#parts.supervisor;
    const ofHost = this.#host.map((alert) => (
      { ...alert, process: undefined, condition: parseCondition(alert.when, "host") }
    ));
    return [
      ...directory.list().flatMap((process) =>
        process.config.alerts.map((alert) => (
          { ...alert, process, condition: parseCondition(alert.when, "process") }
        ))
      ),
      ...ofHost,
    ];
  }

  async #figures(at: number, readings: readonly Reading[]): Promise<Figures> {
    const { supervisor: { scheduler }, home } = this.#parts;
    const all = this.#all();
    const needs = (figure: string) => all.some(({ condition }) => condition.figure === figure);
    const counts = new Map<string, number>();
    for (const { process, when, condition: { withinMs } } of all) {
      if (process === undefined || withinMs === 0) continue;
      counts.set(keyOf(process.id, when), await this.#restarts(process, at, withinMs));
    }
    const late = needs(OVERDUE) ? scheduler.list() : [];
    return {
      samples: new Map(readings.map(({ name, sample }) => [name, sample])),
      counts,
      overdue: new Set(late.filter((one) => one.overdueSince !== null).map(({ name }) => name)),
      disk: needs("disk.free") ? await diskOf(home) : { total: 0, available: 0 },
      memory: Deno.systemMemoryInfo().total,
    };
  }

  /** The automatic restarts of a process within a time, by its history. */
  async #restarts(
    { name, identity: { createdAt } }: ManagedProcess,
    at: number,
    withinMs: number,
  ): Promise<number> {
    const created = createdAt.getTime();
    const since = at - withinMs;
    // Also the measurement before. Those before its creation are of another process of that name.
    const points = await this.#parts.history.points(
      name,
      plan(since - FINE.step, at, Infinity, at),
    );
    const own = points.filter((point) => point.at > created - FINE.step)
      .map(({ sample }) => sample.restarts);
    return growth(created > since ? [0, ...own] : own);
  }

  /** Of a process; of the host, or of a process that was deleted, by its id and name. */
  #publish(
    of: ManagedProcess | Pick<Standing, "id" | "name">,
    when: string,
    fires: boolean,
    reason: string,
  ): void {
    const { events } = this.#parts.supervisor;
    const type = fires ? "alert" : "alert_resolved";
    const details = { alert: when, reason };
    if (of instanceof ManagedProcess) return events.publishOf(of, type, details);
    const { id, name } = of;
    const state = id === "" ? "running" : "stopped";
    events.publish({
      ...{ type, at: new Date(), id, name, state, pid: 0, restarts: 0, exit: null },
      ...details,
    });
  }

  #save(): void {
    const { path, supervisor: { writes } } = this.#parts;
    const memory: Memory = { host: this.#host, standings: [...this.#standings.values()] };
    writes.attempt("the state of the alerts", () => writeState(path, { version: 1, ...memory }));
  }
}

/** The content of the file. */
interface Memory {
  readonly host: readonly AlertConfig[];
  readonly standings: readonly Standing[];
}

function keyOf(id = "", when: string): string {
  return `${id} ${when}`;
}

/** The value that a condition is about; NaN if it is unknown. */
function valueOf(
  { figure, unit }: Condition,
  name: string,
  { samples, counts, overdue, disk, memory }: Figures,
  key: string,
): number {
  const of = (value: number, total: number) => unit === "percent" ? value / total * 100 : value;
  switch (figure) {
    case OVERDUE:
      return overdue.has(name) ? 1 : 0;
    case "restarts":
      return counts.get(key) ?? NaN;
    case "disk.free":
      return disk.total === 0 ? NaN : of(disk.available, disk.total);
    case "memory":
      return of(samples.get(name)?.memory ?? NaN, memory);
    default:
      return samples.get(name)?.[figure as "cpu" | "threads" | "fds" | "load"] ?? NaN;
  }
}
