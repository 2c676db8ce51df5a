/** Numbers, times and processes in words. */

import { plainText } from "../model/plain_text.ts";
import { type Condition, conditionOf } from "../model/process_info.ts";
import { shellWord } from "../model/shell_line.ts";
import type { ProcessJson } from "../protocol/wire.ts";

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
];

/** A duration in its two largest units: `5d4h`, `2h13m`, `7s`. */
export function humanDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0s";
  const [unit, size] = UNITS[first]!;
  const [nextUnit, nextSize] = UNITS[first + 1] ?? ["", 1];
  const rest = nextUnit === "" ? 0 : Math.floor((seconds % size) / nextSize);
  return `${Math.floor(seconds / size)}${unit}${rest === 0 ? "" : `${rest}${nextUnit}`}`;
}

/** `1 process`, `3 processes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const STATES: readonly Condition[] = [
  "running",
  "unhealthy",
  "starting",
  "waiting",
  "stopping",
  "stopped",
  "crashed",
  "errored",
];

/** Number of processes by state, without empty states. */
export function stateCounts(processes: readonly ProcessJson[]): Map<Condition, number> {
  return countedBy(processes, ({ state }) => state);
}

/** A summary such as `2 running, 1 unhealthy`. */
export function stateSummary(processes: readonly ProcessJson[]): string {
  const counts = countedBy(processes, conditionOf);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(", ");
}

function countedBy(
  processes: readonly ProcessJson[],
  of: (process: ProcessJson) => Condition,
): Map<Condition, number> {
  const groups = Map.groupBy(processes, of);
  const counts = STATES.map((state) => [state, groups.get(state)?.length ?? 0] as const);
  return new Map(counts.filter(([, count]) => count > 0));
}

/** Health, or readiness without health checks; `-` while nothing runs and without either. */
export function healthWord({ pid, health, ready, config }: ProcessJson): string {
  if (pid === 0) return "-";
  if (health !== "unknown") return health;
  if (!ready) return "not ready";
  return config.wait_ready === true ? "ready" : "-";
}

/** The last exit: `1`, `SIGKILL`, `out of memory`, `unknown`, or `-` if it never exited. */
export function describeExitJson({ last_exit }: ProcessJson): string {
  if (last_exit?.oom) return "out of memory";
  return last_exit === null ? "-" : last_exit.signal ?? String(last_exit.code ?? "unknown");
}

/** The command line of a process, quoted where a shell would need it. */
export function commandLine({ config }: ProcessJson): string {
  const { interpreter, entrypoint, args } = config as Record<string, unknown>;
  const words = [interpreter, entrypoint, ...(Array.isArray(args) ? args : [])];
  return words.filter((word) => word !== undefined).map((word) =>
    shellWord(plainText(String(word)))
  ).join(" ");
}

/** The time of day, with the date unless it is today. */
export function clockTime(iso: string, now: Date = new Date()): string {
  const date = new Date(iso);
  const time = date.toTimeString().slice(0, 8);
  if (date.toDateString() === now.toDateString()) return time;
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** A cell of a table: a dash unless the process runs. */
export function whileUp(text: (process: ProcessJson) => string): (process: ProcessJson) => string {
  return (process) => process.pid > 0 ? text(process) : "-";
}
