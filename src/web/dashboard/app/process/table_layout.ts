/** The rows of the table of processes: sorted, in groups, with totals. Pure. */

import { baseName } from "../../../../model/name.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import type { Sample } from "./history.ts";
import { byKey, type Figures, natural, type SortKey } from "./select.ts";

export interface Group {
  /** Empty if the list has no groups. */
  readonly title: string;
  /** The filter that selects its members; undefined without one. */
  readonly filter?: string | undefined;
  readonly members: readonly ProcessJson[];
}

/** The groupings: the title of a group, and the filter of its members. */
const GROUPINGS: Readonly<
  Record<string, (process: ProcessJson) => readonly [title: string, filter?: string]>
> = {
  namespace: ({ namespace }) => [namespace, `ns:${namespace}`],
  app: ({ name }) => [baseName(name)],
  tag: ({ tags: [tag] }) => tag === undefined ? ["no tag"] : [`#${tag}`, `tag:${tag}`],
};

export interface Order {
  readonly sort: SortKey;
  readonly descending: boolean;
}

export function sorted(
  list: readonly ProcessJson[],
  { sort, descending }: Order,
  figures: Figures,
): readonly ProcessJson[] {
  const ascending = list.toSorted(byKey(sort, figures));
  return descending ? ascending.reverse() : ascending;
}

/** Figures by whose sum groups are sorted. */
const SUMS: Partial<Record<SortKey, (process: ProcessJson) => number>> = {
  cpu: ({ cpu_percent }) => cpu_percent,
  memory: ({ memory_bytes }) => memory_bytes,
  restarts: ({ restarts }) => restarts,
};

export function total(
  members: readonly ProcessJson[],
  of: (process: ProcessJson) => number,
): number {
  return members.reduce((sum, process) => sum + of(process), 0);
}

/** Groups of sorted processes. They are sorted by their totals, or by title if the key has none. */
export function grouped(
  list: readonly ProcessJson[],
  by: string,
  { sort, descending }: Order,
): readonly Group[] {
  const groupingOf = GROUPINGS[by];
  if (groupingOf === undefined) return [{ title: "", members: list }];
  const groups = [...Map.groupBy(list, (process) => groupingOf(process)[0])].map(
    ([title, members]): Group => ({ title, members, filter: groupingOf(members[0]!)[1] }),
  ).sort((a, b) => natural.compare(a.title, b.title));
  const figure = SUMS[sort];
  if (figure === undefined) return groups;
  const sign = descending ? -1 : 1;
  return groups.sort((a, b) => sign * (total(a.members, figure) - total(b.members, figure)));
}

export type Row = { readonly group: Group } | { readonly process: ProcessJson };

/** The rows of a table: each group's own, then those of its members. */
export function rowsOf(groups: readonly Group[]): readonly Row[] {
  return groups.flatMap((group): Row[] => [
    ...(group.title === "" ? [] : [{ group }]),
    ...group.members.map((process) => ({ process })),
  ]);
}

const HOUR_MS = 3_600_000;
/** Growth is unknown before this time: a start takes memory. */
const LEAST_MS = 600_000;

/** Growth of memory in bytes per hour; undefined if it is not known yet. */
export function growthOf(samples: readonly Sample[]): number | undefined {
  const known = samples.filter(({ memory }) => memory !== undefined);
  const third = Math.floor(known.length / 3);
  if (third === 0 || known.at(-1)!.at - known[0]!.at < LEAST_MS) return undefined;
  const mean = (some: readonly Sample[], of: (sample: Sample) => number) =>
    some.reduce((sum, sample) => sum + of(sample), 0) / some.length;
  const [first, last] = [known.slice(0, third), known.slice(-third)];
  const grown = mean(last, ({ memory }) => memory!) - mean(first, ({ memory }) => memory!);
  return grown / (mean(last, ({ at }) => at) - mean(first, ({ at }) => at)) * HOUR_MS;
}
