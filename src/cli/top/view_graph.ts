/** CPU and memory of one app over the last minutes. Pure. */

import { humanBytes, humanDuration } from "../human.ts";
import { pad } from "../text_width.ts";
import { type History, NO_HISTORY } from "./history.ts";
import { area } from "./spark.ts";
import { current, type TopState } from "./state.ts";
import type { Style } from "./style.ts";
import { cut, shorten } from "./text.ts";
import { paneTitle } from "./view_title.ts";

/** Narrower than this, one graph is above the other. */
const SIDE_BY_SIDE = 80;

interface Graph {
  readonly name: string;
  readonly values: readonly number[];
  /** What a full column is at least. */
  readonly least: number;
  readonly format: (value: number) => string;
}

/** The title, and both graphs. */
export function graphLines(state: TopState, height: number, style: Style): string[] {
  const { columns } = state;
  const process = current(state);
  const title = paneTitle([`graph ${process?.name ?? ""}`.trim()], state, style);
  if (process === undefined) return [title];
  const [cpu, mem] = graphsOf(state.histories.get(process.id) ?? NO_HISTORY);
  const room = height - 1;
  if (columns < SIDE_BY_SIDE) {
    const upper = Math.ceil(room / 2);
    return [
      title,
      ...drawn(cpu, columns, upper, style),
      ...drawn(mem, columns, room - upper, style),
    ];
  }
  const width = Math.floor((columns - 3) / 2);
  const right = drawn(mem, width, room, style);
  return [
    title,
    ...drawn(cpu, width, room, style).map((line, index) =>
      `${pad(line, width, "left")}   ${right[index]}`
    ),
  ];
}

function graphsOf({ cpu, mem }: History): [Graph, Graph] {
  return [
    { name: "cpu", values: cpu, least: 1, format: (value) => `${value.toFixed(1)}%` },
    { name: "mem", values: mem, least: 1_000_000, format: humanBytes },
  ];
}

/** What it is and was at most, above the columns of its last readings. */
function drawn(
  { name, values, least, format }: Graph,
  width: number,
  height: number,
  style: Style,
): string[] {
  if (height < 1) return [];
  const shown = values.slice(-width);
  const peak = Math.max(0, ...shown);
  const label = shorten(
    `${name}  now ${format(values.at(-1) ?? 0)}  most ${format(peak)}  ` +
      `last ${humanDuration(shown.length * 1000)}`,
    width,
  );
  const lines = area(shown, width, height - 1, Math.max(least, peak));
  return [style.bold(label), ...lines.map((line) => style.good(cut(line, width)))];
}
