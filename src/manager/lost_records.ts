/** Apps that run on without a record: what is put on record of them again. */

import { parseConfig } from "../model/config_schema.ts";
import { leftBy } from "../model/transition_steps.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { NEW, type Snapshot } from "../model/process_state.ts";
import type { FoundRun } from "../platform/found_runs.ts";
import { wrapperAlive } from "../platform/process_group.ts";
import type { ProcessRecord } from "./record_file.ts";

/** What records are put together from. */
export interface LostAndFound {
  readonly records: readonly ProcessRecord[];
  /** Runs that are alive and in no record. */
  readonly found: readonly FoundRun[];
  /** What was saved last. */
  readonly saved: readonly ProcessRecord[];
  /** What apps inherit from this program. */
  readonly inherited: Readonly<Record<string, string>>;
  readonly takeNumericId: () => number;
}

/** Records with every found run in one of them, and what to say about it. */
export interface TakenUp {
  readonly records: readonly ProcessRecord[];
  readonly problems: readonly string[];
}

/**
 * Gives each found run to the record of its process. A process without a record gets it from the
 * saved list or, with the default settings, from what its wrapper shows.
 */
export function takeUpLost(parts: LostAndFound): TakenUp {
  const records = new Map(parts.records.map((record) => [record.identity.name, record]));
  const problems: string[] = [];
  for (const found of parts.found) {
    const { name } = found;
    const known = records.get(name);
    const saved = parts.saved.find(({ identity }) => identity.name === name);
    const record = known ?? (saved && { ...saved, snapshot: NEW }) ?? rebuilt(found, parts);
    records.set(name, { ...record, snapshot: withRun(record.snapshot, found) });
    const source = known ? "its older record" : saved ? "the saved list" : "its process alone";
    problems.push(`"${name}" runs without a record of it: taken up by ${source}`);
  }
  return { records: [...records.values()], problems };
}

/** A second run beside one that is up is left over from a start that was not finished. */
function withRun(now: Snapshot, { run, pid, startedAt }: FoundRun): Snapshot {
  if (now.run !== null && wrapperAlive(now.run)) {
    return { ...now, leftovers: [...now.leftovers, run] };
  }
  return {
    ...now,
    state: "running",
    desired: "up",
    ready: true,
    attempt: now.attempt + 1,
    leftovers: leftBy(now),
    run,
    pid,
    startedAt,
  };
}

/** A process by what its wrapper shows. How it is to be restarted is not in it. */
function rebuilt(found: FoundRun, { inherited, takeNumericId }: LostAndFound): ProcessRecord {
  const { name, env, startedAt } = found;
  const instanceIndex = Number(env.PROCSUP_INSTANCE ?? 0);
  return {
    identity: {
      id: crypto.randomUUID(),
      numericId: takeNumericId(),
      name,
      instanceIndex,
      createdAt: new Date(startedAt),
    },
    config: rebuiltConfig(found, inherited),
    snapshot: NEW,
  };
}

function rebuiltConfig(
  { name, command: [entrypoint, ...args], cwd, env, user, run }: FoundRun,
  inherited: Readonly<Record<string, string>>,
): ProcessConfig {
  const own = Object.entries(env).filter(([key, value]) =>
    !key.startsWith("PROCSUP_") && key !== "PWD" && inherited[key] !== value
  );
  return parseConfig({
    name: env.PROCSUP_BASE_NAME ?? name,
    namespace: env.PROCSUP_NAMESPACE ?? "default",
    env: Object.fromEntries(own),
    ...user,
    entrypoint,
    args,
    cwd,
    ...(run.logs && { log: run.logs }),
  });
}
