/** Describes processes in words. */

import { plainText } from "../model/plain_text.ts";
import type { ProcessState } from "../model/process_info.ts";
import type { ProcessJson } from "../protocol/wire.ts";

const STATES: readonly ProcessState[] = [
  "running",
  "starting",
  "waiting",
  "stopping",
  "stopped",
  "crashed",
  "errored",
];

/** Number of processes by state, without empty states. */
export function stateCounts(processes: readonly ProcessJson[]): Map<ProcessState, number> {
  const counts = STATES.map((state): [ProcessState, number] => [
    state,
    processes.filter((process) => process.state === state).length,
  ]);
  return new Map(counts.filter(([, count]) => count > 0));
}

/** A summary such as `2 running, 1 errored`. */
export function stateSummary(processes: readonly ProcessJson[]): string {
  return [...stateCounts(processes)].map(([state, count]) => `${count} ${state}`).join(", ");
}

/** The last exit: `1`, `SIGKILL`, `unknown`, or `-` if it never exited. */
export function describeExitJson({ last_exit }: ProcessJson): string {
  return last_exit === null ? "-" : last_exit.signal ?? String(last_exit.code ?? "unknown");
}

/** The command line of a process, quoted where a shell would need it. */
export function commandLine({ config }: ProcessJson): string {
  const { interpreter, entrypoint, args } = config as Record<string, unknown>;
  const words = [interpreter, entrypoint, ...(Array.isArray(args) ? args : [])];
  return words.filter((word) => word !== undefined).map((word) => quoted(String(word))).join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${plainText(word).replaceAll("'", "'\\''")}'`;
}

/** The time of day, with the date unless it is today. */
export function clockTime(iso: string, now: Date = new Date()): string {
  const date = new Date(iso);
  const two = (value: number) => String(value).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (date.toDateString() === now.toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** A cell of a table: a dash unless the process runs. */
export function whileUp(text: (process: ProcessJson) => string): (process: ProcessJson) => string {
  return (process) => process.pid > 0 ? text(process) : "-";
}
