/** Compares the runs that apps recorded with the exits that the daemon reports. */

import type { ProcessJson } from "../../../src/protocol/wire.ts";
import type { Ledger } from "./ledger.ts";

/** One run of an app. */
export interface Life {
  readonly runId: string;
  readonly pid: number;
  readonly startedAt: number;
  /** `code 3` or `signal SEGV`; undefined if the app could not record it. */
  readonly means: string | undefined;
  readonly endedAt: number | undefined;
}

/** The lives of an app, oldest first. */
export function lives(folder: string, name: string): Life[] {
  const found = new Map<string, Life>();
  let text = "";
  try {
    text = Deno.readTextFileSync(`${folder}/life/${name}`);
  } catch {
    // Its start was never recorded.
  }
  for (const line of text.split("\n")) {
    const [what, runId, ...rest] = line.split(" ");
    if (what === "start") {
      const [pid, at] = rest.map(Number);
      found.set(runId!, {
        runId: runId!,
        pid: pid!,
        startedAt: at!,
        means: undefined,
        endedAt: undefined,
      });
    } else if (what === "exit") {
      const [kind, word, at] = rest;
      const life = found.get(runId!);
      if (life) found.set(runId!, { ...life, means: `${kind} ${word}`, endedAt: Number(at) });
    }
  }
  return [...found.values()];
}

export function runsOf(all: readonly Life[]): string[] {
  return all.map(({ runId }) => runId);
}

/** Describes how the last exit that the daemon reports differs from the recorded one. */
export function exitProblems(process: ProcessJson, all: readonly Life[], ledger: Ledger): string[] {
  const exit = process.last_exit;
  const over = process.pid > 0 ? all.filter(({ pid }) => pid !== process.pid) : all;
  const last = over.at(-1);
  // Another process had that name before, or the present life has not recorded its start.
  if (last === undefined || last.startedAt < Date.parse(process.created_at)) return [];
  const told = exit === null
    ? "none"
    : exit.signal !== null
    ? `signal ${exit.signal.replace("SIG", "")}`
    : `code ${exit.code}`;
  const hit = (what: string) =>
    ledger.killed.some((it) =>
      it.what === what && it.name === process.name && it.at >= last.startedAt - 100
    );
  const base = (process.config as { name: string }).name;
  if (last.startedAt < (ledger.forgotten.get(base) ?? 0)) return [];
  const allowed = new Set([last.means ?? "signal KILL"]);
  if (hit("app") || ledger.killed.some((it) => it.name === base && it.at >= last.startedAt)) {
    allowed.add("signal KILL");
  }
  if (hit("wrapper")) allowed.add("code null").add("signal KILL");
  // This life ended before it could record anything.
  const unseen = exit !== null && Date.parse(exit.at) > (last.endedAt ?? last.startedAt) + 30 &&
    (exit.signal === "SIGTERM" || exit.signal === "SIGKILL");
  if (allowed.has(told) || unseen) return [];
  return [
    `${process.name} (${process.state}): last exit is told as ${told} at ${exit?.at}, and was ` +
    `${[...allowed].join(" or ")} of pid ${last.pid} started ${
      new Date(last.startedAt).toISOString()
    }` +
    ` ended ${last.endedAt && new Date(last.endedAt).toISOString()}`,
  ];
}
