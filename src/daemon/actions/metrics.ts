/** `metrics_history`: reads the metrics history. */

import { hasCode, ProcsupError } from "../../model/errors.ts";
import { parseRange } from "../../model/time_spec.ts";
import type { MetricsPointJson } from "../../protocol/wire.ts";
import { HOST } from "../metrics_history.ts";
import { plan, type Point } from "../metrics_ring.ts";
import type { ActionContext, Handlers } from "./context.ts";

/** Maximum number of points in an answer, to bound its memory. */
const MAX_POINTS = 100_000;

/** Throws `other_version` if a newer version wrote all that was requested. */
export const METRICS_ACTIONS: Handlers<"metrics_history"> = {
  async metrics_history({ supervisor, history }, { target, since, until = "now", points }) {
    const now = Date.now();
    const { since: from = now, until: to = now } = parseRange({ since, until }, now);
    const names = target === undefined ? [HOST] : namesOf({ supervisor, history }, target);
    const most = Math.max(1, Math.floor(MAX_POINTS / names.length));
    const range = plan(from, to, Math.min(points, most), now);
    const series = [];
    let refused: ProcsupError | undefined;
    for (const name of names) {
      try {
        const found = await history.points(name, range);
        series.push({ name: name === HOST ? null : name, points: found.map(pointJson) });
      } catch (error) {
        // A file of a newer version must not hide the others.
        if (!(error instanceof ProcsupError)) throw error;
        refused = error;
      }
    }
    if (series.length === 0 && refused !== undefined) throw refused;
    return {
      since: new Date(range.since).toISOString(),
      until: new Date(Math.max(range.since, range.until)).toISOString(),
      step: range.step * 1e6,
      series,
    };
  },
};

/** Names of the processes that match a target, and of deleted processes of that name. */
function namesOf(
  { supervisor, history }: Pick<ActionContext, "supervisor" | "history">,
  target: string,
): string[] {
  if (target === "all") return history.names();
  const deleted = history.named(target);
  try {
    const found = supervisor.registry.resolve(target).map(({ name }) => name);
    return [...new Set([...found, ...deleted])];
  } catch (error) {
    const isUnknown = hasCode(error, "process_not_found");
    if (!isUnknown || deleted.length === 0) throw error;
    return deleted;
  }
}

function pointJson({ at, sample }: Point): MetricsPointJson {
  const figure = (value: number, digits = 0) =>
    Number.isNaN(value) ? null : Number(value.toFixed(digits));
  return {
    at: new Date(at).toISOString(),
    cpu_percent: figure(sample.cpu, 1),
    cpu_percent_max: figure(sample.cpuMax, 1),
    memory_bytes: figure(sample.memory),
    memory_bytes_max: figure(sample.memoryMax),
    threads: figure(sample.threads, 1),
    fds: figure(sample.fds, 1),
    load: figure(sample.load, 2),
    restarts: sample.restarts,
    uptime: sample.uptime * 1e9,
    up: figure(sample.up, 3)!,
    healthy: figure(sample.health, 3),
  };
}
