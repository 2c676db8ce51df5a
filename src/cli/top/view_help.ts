/** The help over the whole screen, made from the tables of keys. Pure. */

import { counted } from "../human.ts";
import { textWidth } from "../text_width.ts";
import {
  type Binding,
  COMMON_BINDINGS,
  keyLabel,
  PANE_BINDINGS,
  TABLE_BINDINGS,
} from "./bindings.ts";
import type { TopState } from "./state.ts";
import type { Style } from "./style.ts";
import { cut, shorten } from "./text.ts";

const FILTER_HELP = [
  "a filter is words that all must hold: part of a name, a number,",
  "a state, ns:NAME tag:TAG label:KEY=VALUE state:STATE, !WORD for not",
];

/** Title, keys in one column or two, and how to leave. */
export function helpLines({ help, columns, rows }: TopState, style: Style): string[] {
  const [apps, table, log] = [
    section("Apps and screen", COMMON_BINDINGS, style),
    section("In the table", TABLE_BINDINGS, style),
    section("In the logs", PANE_BINDINGS, style),
  ] as const;
  const half = Math.floor(columns / 2);
  const wide = columns >= 100;
  const all = wide
    ? [...sideBySide([...table], [...apps], half), "", ...log, "", ...FILTER_HELP]
    : [...apps, "", ...table, "", ...log, "", ...FILTER_HELP];
  const room = rows - 2;
  const from = Math.min(help ?? 0, Math.max(0, all.length - room));
  const below = all.length - from - room;
  const foot = below > 0
    ? `${counted(below, "more line")}: j and k scroll`
    : "any other key leaves the help";
  return [
    style.bold(shorten("procsup top", columns)),
    ...Array.from({ length: room }, (_, i) => cut(all[from + i] ?? "", columns)),
    style.dim(shorten(foot, columns)),
  ];
}

function section(title: string, bindings: readonly Binding[], style: Style): string[] {
  return [
    style.bold(title),
    ...bindings.filter(({ about }) => about !== undefined).map(({ keys, about }) => {
      const labels = keys.map(keyLabel).filter((label) => label !== "").join(" ");
      return `  ${labels.padEnd(12)} ${about}`;
    }),
  ];
}

function sideBySide(left: string[], right: string[], width: number): string[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => {
    const text = cut(left[i] ?? "", width - 1);
    return text + " ".repeat(Math.max(0, width - textWidth(text))) + (right[i] ?? "");
  });
}
