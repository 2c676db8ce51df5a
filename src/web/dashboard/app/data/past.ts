/** What the daemon measured before this page was opened. */

import { HOST, prepend, round, type Sample } from "../process/history.ts";
import { ask } from "./api.ts";
import { processes } from "./store.ts";
import type { MetricsHistoryJson, MetricsPointJson } from "./types.ts";

/** A point for each slot of the daemon's two rings. */
const SPANS = [{ since: "1h", points: 361 }, { since: "24h", points: 721 }];

/** Loads the last two minutes of all, for the small charts. */
export async function loadRecent(): Promise<void> {
  const span = { since: "2m", points: 13 };
  await Promise.all([load(span), load({ ...span, target: "all" })]);
}

const loaded = new Set<string | undefined>();

/** Loads a day of a process, once; of the host without a name. */
export async function loadDay(name?: string): Promise<void> {
  if (loaded.has(name)) return;
  loaded.add(name);
  for (const span of SPANS) await load(name === undefined ? span : { ...span, target: name });
}

/** Without an answer the charts begin with this page. */
async function load(query: Readonly<Record<string, string | number>>): Promise<void> {
  const answer = await ask<MetricsHistoryJson>("/metrics/history", { query }).catch(() =>
    undefined
  );
  for (const { name, points } of answer?.series ?? []) {
    const key = name === null ? HOST : idOf(name);
    if (key !== undefined) prepend(key, points.flatMap(sampleOf));
  }
  round.value++;
}

function idOf(wanted: string): string | undefined {
  return [...processes.value?.values() ?? []].find(({ name }) => name === wanted)?.id;
}

/** While it does not run there is nothing to draw. */
function sampleOf({ at, cpu_percent, memory_bytes, ...more }: MetricsPointJson): Sample[] {
  if (cpu_percent === null || memory_bytes === null) return [];
  const { fds, threads, load } = more;
  return [{
    at: Date.parse(at),
    cpu: cpu_percent,
    memory: memory_bytes,
    ...{ fds: fds ?? 0, threads: threads ?? 0, load: load ?? 0 },
  }];
}
