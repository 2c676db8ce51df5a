/** Rebuilds lost records of apps that still run. */

import { parseConfig } from "../model/config_schema.ts";
import { leftBy } from "../model/transition_steps.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { NEW, type Snapshot } from "../model/process_state.ts";
import type { FoundRun } from "../platform/found_runs.ts";
import { wrapperAlive } from "../platform/process_group.ts";
import type { ProcessRecord } from "./record_file.ts";

/** The sources of rebuilt records. */
interface LostAndFound {
  readonly records: readonly ProcessRecord[];
  /** Living runs that are in no record. */
  readonly found: readonly FoundRun[];
  readonly saved: readonly ProcessRecord[];
  /** Environment that apps inherit from this program. */
  readonly inherited: Readonly<Record<string, string>>;
  readonly takeNumericId: () => number;
}

/** Records that include every found run, and messages for the log. */
interface TakenUp {
  readonly records: readonly ProcessRecord[];
  readonly problems: readonly string[];
}

/**
 * Adds each found run to the record of its process. A missing record is rebuilt from the saved
 * list, or from the wrapper process with default settings.
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
    problems.push(`"${name}" runs without a record: recovered from ${source}`);
  }
  return { records: [...records.values()], problems };
}

/** Adds a run to a snapshot. Beside a living run it is a leftover of an unfinished start. */
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

/** A record rebuilt from a wrapper process, which does not show the restart settings. */
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
