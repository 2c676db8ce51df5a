/** Processes in words. */

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

/** How many processes are in each state, states without any left out. */
export function stateCounts(processes: readonly ProcessJson[]): Map<ProcessState, number> {
  const counts = STATES.map((state): [ProcessState, number] => [
    state,
    processes.filter((process) => process.state === state).length,
  ]);
  return new Map(counts.filter(([, count]) => count > 0));
}

/** `2 running, 1 errored`. */
export function stateSummary(processes: readonly ProcessJson[]): string {
  return [...stateCounts(processes)].map(([state, count]) => `${count} ${state}`).join(", ");
}

/** How it ended last: `1`, `SIGKILL`, `unknown`, or `-` when it never did. */
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

/** A moment as the time of the day, with the date unless it is today. */
export function clockTime(iso: string, now: Date = new Date()): string {
  const date = new Date(iso);
  const two = (value: number) => String(value).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (date.toDateString() === now.toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}
