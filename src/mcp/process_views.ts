/** Shorter views of processes and their usage. Pure. */

import { parseConfig } from "../model/config_schema.ts";
import { formatDuration } from "../model/duration.ts";
import { wireKeys } from "../model/key_spelling.ts";
import type { MetricsHistoryJson, ProcessJson } from "../protocol/wire.ts";

/** Keys that are always shown. */
const ALWAYS: ReadonlySet<string> = new Set(["name", "entrypoint", "cwd"]);

/** Leaves out configuration keys that have their default values. */
export function withoutDefaults(process: ProcessJson): ProcessJson {
  const config = Object.entries(process.config).filter(([key, value]) =>
    ALWAYS.has(key) || JSON.stringify(value) !== defaults().get(key)
  );
  return { ...process, config: Object.fromEntries(config) };
}

let known: ReadonlyMap<string, string> | undefined;

/** Default values as JSON, by key. */
function defaults(): ReadonlyMap<string, string> {
  known ??= new Map(
    Object.entries(wireKeys(parseConfig({ name: "app", entrypoint: "app", cwd: "/" })))
      .map(([key, value]) => [key, JSON.stringify(value)]),
  );
  return known;
}

/** State and usage, plus unusual values. */
export function briefProcess(process: ProcessJson): Record<string, unknown> {
  const { name, state, pid, uptime, restarts, ready, health, last_reason } = process;
  const { cpu_percent, memory_bytes } = process;
  const minutes = Math.floor(uptime / 60e9);
  return {
    name,
    state,
    ...pid !== 0 && { pid, cpu_percent, memory_bytes, up: formatDuration(minutes * 60_000) },
    ...restarts > 0 && { restarts },
    ...pid !== 0 && !ready && { ready },
    ...health === "unhealthy" && { health },
    ...state !== "running" && last_reason !== "" && { last_reason },
  };
}

/** The figures of each step, in lists that begin at `since`; null where none were measured. */
export function briefHistory({ since, until, step, series }: MetricsHistoryJson) {
  const stepMs = step / 1e6;
  const begin = Date.parse(since);
  return {
    since,
    until,
    step: formatDuration(stepMs),
    series: series.map(({ name, points }) => {
      const at = new Map(
        points.map((point) => [Math.round((Date.parse(point.at) - begin) / stepMs), point]),
      );
      const steps = Array.from(
        { length: Math.max(-1, ...at.keys()) + 1 },
        (_, step) => at.get(step),
      );
      return {
        name: name ?? "host",
        memory_bytes: steps.map((point) => point?.memory_bytes ?? null),
        memory_bytes_max: Math.max(0, ...points.map((point) => point.memory_bytes_max ?? 0)),
        cpu_percent: steps.map((point) => point?.cpu_percent ?? null),
        cpu_percent_max: Math.max(0, ...points.map((point) => point.cpu_percent_max ?? 0)),
      };
    }),
  };
}
