/** Lays out dependencies in columns, each app to the right of those it waits for. Pure. */

import { baseName } from "../../../../model/name.ts";
import type { DependencyCondition } from "../../../../model/process_config.ts";
import {
  type Condition,
  conditionOf,
  CONDITIONS_BY_URGENCY,
} from "../../../../model/process_info.ts";
import { isSuccess } from "../../../../model/transition_steps.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { dependenciesOf } from "../process/select.ts";

/** An app, with all its instances. */
export interface Node {
  readonly name: string;
  readonly members: readonly ProcessJson[];
  /** State of its worst instance; undefined if the app does not exist. */
  readonly state: Condition | undefined;
  /** Its upper left corner. */
  readonly x: number;
  readonly y: number;
}

/** A dependency: `from` must fulfil the condition before `to` starts. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly condition: string;
  /** Heights at which it passes the columns between the two apps, below or above their boxes. */
  readonly passes: readonly number[];
}

export const NODE = { width: 190, height: 56 };
export const GAP = { x: 120, y: 28 };
export const MARGIN = 12;
/** Height of the space that a passing line takes. */
const PASS = 20;

/** True if all instances of an app fulfil the condition now. */
export function isMet({ condition }: Pick<Link, "condition">, { members }: Node): boolean {
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
  /** Number of apps without dependencies or dependents. */
  readonly single: number;
}

/** A box, or the place where a line passes a column. */
interface Item {
  readonly name: string;
  /** For a place that a line passes through: the index of the line. */
  readonly link?: number;
  readonly height: number;
  /** The items of the column before that it is connected with. */
  readonly before: readonly string[];
}

export function layOut(list: readonly ProcessJson[]): Layout {
  const apps = Map.groupBy(list, ({ name }) => baseName(name));
  const wanted = [...apps].flatMap(([name, members]) => linksTo(name, members[0]!));
  const linked = new Set(wanted.flatMap(({ from, to }) => [from, to]));
  const columnOf = columnsOf([...linked], wanted);
  const columns: Item[][] = [];
  const add = (column: number, item: Item) => (columns[column] ??= []).push(item);
  // The last part of a line comes from its last pass.
  const passName = (link: number, column: number) => `${link} ${column}`;
  const begin = ({ from }: Wanted, link: number, to: number) =>
    columnOf.get(from)! === to - 1 ? from : passName(link, to - 1);
  for (const name of [...linked].sort()) {
    const column = columnOf.get(name)!;
    const before = wanted.flatMap((link, index) =>
      link.to === name ? [begin(link, index, column)] : []
    );
    add(column, { name, height: NODE.height + GAP.y, before });
  }
  for (const [link, one] of wanted.entries()) {
    for (let column = columnOf.get(one.from)! + 1; column < columnOf.get(one.to)!; column++) {
      const before = [begin(one, link, column)];
      add(column, { name: passName(link, column), link, height: PASS, before });
    }
  }
  const places = placesOf(columns);
  const nodes = [...linked].sort().map((name): Node => ({
    ...nodeOf(name, apps.get(name) ?? []),
    x: MARGIN + columnOf.get(name)! * (NODE.width + GAP.x),
    y: places.get(name)!,
  }));
  const links = wanted.map((one, link): Link => ({
    ...one,
    passes: columns.flatMap((items) => items.filter((item) => item.link === link))
      .map(({ name }) => places.get(name)! + PASS / 2),
  }));
  return { nodes, links, single: [...apps.keys()].filter((name) => !linked.has(name)).length };
}

/** The upper edge of each item. In each column they are in the order of what they are connected with. */
function placesOf(columns: readonly (readonly Item[])[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const items of columns) {
    const wish = ({ before }: Item) =>
      before.reduce((sum, name) => sum + (places.get(name) ?? 0), 0) / Math.max(1, before.length);
    let y = MARGIN;
    for (const { name, height } of items.toSorted((a, b) => wish(a) - wish(b))) {
      places.set(name, y);
      y += height;
    }
  }
  return places;
}

function nodeOf(name: string, members: readonly ProcessJson[]) {
  const states = new Set(members.map(conditionOf));
  const state = CONDITIONS_BY_URGENCY.find((state) => states.has(state));
  return { name, members, state };
}

type Wanted = Omit<Link, "passes">;

function linksTo(to: string, process: ProcessJson): Wanted[] {
  return dependenciesOf(process).map(([from, condition]) => ({ from, to, condition }));
}

/** The column of each app. Cycles, which the daemon refuses, end the recursion. */
function columnsOf(names: readonly string[], links: readonly Wanted[]): Map<string, number> {
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

/** The line of a link. It bends between the columns only, so that it never runs behind a box. */
export function pathOf({ passes }: Link, from: Node, to: Node): string {
  let [x, y] = [from.x + NODE.width, from.y + NODE.height / 2];
  const bend = (toX: number, toY: number) =>
    `C${x + GAP.x / 2} ${y} ${toX - GAP.x / 2} ${toY} ${toX} ${toY}`;
  const parts = passes.map((height, index) => {
    const left = from.x + (index + 1) * (NODE.width + GAP.x);
    const part = `${bend(left, height)}H${left + NODE.width}`;
    [x, y] = [left + NODE.width, height];
    return part;
  });
  const begin = `M${from.x + NODE.width} ${from.y + NODE.height / 2}`;
  return begin + parts.join("") + bend(to.x - 6, to.y + NODE.height / 2);
}
