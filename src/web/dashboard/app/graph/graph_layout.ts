/** Lays out dependencies in columns, each app to the right of those it waits for. Pure. */

import { baseName } from "../../../../model/name.ts";
import type { DependencyCondition } from "../../../../model/process_config.ts";
import { type ProcessState, STATES_BY_URGENCY } from "../../../../model/process_info.ts";
import { isSuccess } from "../../../../model/transition_steps.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { dependenciesOf } from "../process/select.ts";

/** An app, with all its instances. */
export interface Node {
  readonly name: string;
  readonly members: readonly ProcessJson[];
  /** State of its worst instance; undefined if the app does not exist. */
  readonly state: ProcessState | undefined;
  readonly column: number;
  readonly row: number;
}

/** A dependency: `from` must fulfil the condition before `to` starts. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly condition: string;
}

/** True if all instances of an app fulfil the condition now. */
export function isMet({ condition }: Link, { members }: Node): boolean {
  return members.length > 0 && members.every(CONDITIONS[condition as DependencyCondition]);
}

const CONDITIONS: Readonly<Record<DependencyCondition, (process: ProcessJson) => boolean>> = {
  started: (process) => process.pid !== 0 || isCompleted(process),
  ready: ({ state, ready }) => state === "running" && ready,
  healthy: ({ state, health }) => state === "running" && health === "healthy",
  completed: isCompleted,
  completed_ok: (process) => isCompleted(process) && endedWell(process),
};

function isCompleted({ state, last_exit }: ProcessJson): boolean {
  return (state === "stopped" || state === "crashed") && last_exit !== null;
}

function endedWell({ last_exit, config }: ProcessJson): boolean {
  const successExitCodes = config.success_exit_codes as readonly number[] | undefined ?? [0];
  return isSuccess(last_exit, { successExitCodes });
}

export interface Layout {
  readonly nodes: readonly Node[];
  readonly links: readonly Link[];
  /** Apps without dependencies or dependents. */
  readonly single: readonly Node[];
}

export function layOut(list: readonly ProcessJson[]): Layout {
  const apps = Map.groupBy(list, ({ name }) => baseName(name));
  const links = [...apps].flatMap(([name, members]) => linksTo(name, members[0]!));
  const linked = new Set(links.flatMap(({ from, to }) => [from, to]));
  const columns = columnsOf([...linked], links);
  const rows = new Map<number, number>();
  const nodes = [...linked].sort().map((name): Node => {
    const column = columns.get(name) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return { ...nodeOf(name, apps.get(name) ?? []), column, row };
  });
  const single = [...apps].filter(([name]) => !linked.has(name))
    .map(([name, members]): Node => ({ ...nodeOf(name, members), column: 0, row: 0 }));
  return { nodes, links, single };
}

function nodeOf(name: string, members: readonly ProcessJson[]) {
  const state = STATES_BY_URGENCY.find((state) => members.some((member) => member.state === state));
  return { name, members, state };
}

function linksTo(to: string, process: ProcessJson): Link[] {
  return dependenciesOf(process).map(([from, condition]) => ({ from, to, condition }));
}

/** The column of each app. Cycles, which the daemon refuses, end the recursion. */
function columnsOf(names: readonly string[], links: readonly Link[]): Map<string, number> {
  const columns = new Map<string, number>();
  const visit = (name: string, path: ReadonlySet<string>): number => {
    const known = columns.get(name);
    if (known !== undefined) return known;
    if (path.has(name)) return 0;
    const before = links.filter(({ to }) => to === name);
    const inner = new Set([...path, name]);
    const column = Math.max(-1, ...before.map(({ from }) => visit(from, inner))) + 1;
    columns.set(name, column);
    return column;
  };
  for (const name of names) visit(name, new Set());
  return columns;
}
