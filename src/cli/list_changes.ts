/** What of a list is news. Pure. */

import type { ProcessJson } from "../protocol/process_json.ts";

/** An app that is not in the list any more. */
export interface GoneJson {
  readonly id: string;
  readonly name: string;
  readonly deleted: true;
}

/** Fields that change all the time, and with them nothing. */
const RESTLESS: ReadonlySet<string> = new Set(
  [
    "cpu_percent",
    "memory_bytes",
    "mem_percent",
    "threads",
    "fds",
    "uptime",
  ] satisfies (keyof ProcessJson)[],
);

/** The apps that are new or changed in more than what they use, then those that are gone. */
export function changedProcesses(
  before: readonly ProcessJson[],
  after: readonly ProcessJson[],
): (ProcessJson | GoneJson)[] {
  const known = new Map(before.map((process) => [process.id, restful(process)]));
  const left = new Set(after.map(({ id }) => id));
  return [
    ...after.filter((process) => known.get(process.id) !== restful(process)),
    ...before.filter(({ id }) => !left.has(id))
      .map(({ id, name }): GoneJson => ({ id, name, deleted: true })),
  ];
}

function restful(process: ProcessJson): string {
  return JSON.stringify(process, (key, value) => RESTLESS.has(key) ? undefined : value);
}
