/** Draws the state as lines that fit the screen. Pure. */

import { counted, humanDuration, stateSummary } from "../human.ts";
import { humanBytes } from "../../model/size.ts";
import { type Style, styleOf } from "../paint.ts";
import { textWidth } from "../terminal_text.ts";
import { suggestions } from "./prompt.ts";
import { type Binding, COMMON_BINDINGS, keyLabel, PANE_BINDINGS, TABLE_BINDINGS } from "./keys.ts";
import {
  chosen,
  current,
  type HostFigures,
  layoutOf,
  paneHeight,
  type Prompt,
  SMALLEST,
  type TopState,
} from "./state.ts";
import { cleanLine, cut, shorten, sparkline } from "./text.ts";
import {
  detailLines,
  detailText,
  graphLines,
  logLines,
  logTitle,
  paneTitle,
} from "./view_panes.ts";
import { tableRows } from "./view_table.ts";

/** Returns exactly as many lines as the screen has. */
export function view(state: TopState): string[] {
  const { columns, rows } = state;
  const style = styleOf(state.color);
  if (columns < SMALLEST.columns || rows < SMALLEST.rows) {
    return filled([cut(`${columns}×${rows} is too small, q quits`, columns)], rows);
  }
  if (state.help !== undefined) return filled(helpLines(state, style), rows);
  const { head, table, pane } = layoutOf(state);
  return [
    ...filled(headLines(state, head, style), head),
    ...filled(table > 0 ? tableRows(state, table, style) : [], table),
    ...filled(pane > 0 ? paneLines(state, pane, style) : [], pane),
    footLine(state, style),
  ];
}

function paneLines(state: TopState, height: number, style: Style): string[] {
  const { pane } = state;
  if (pane === "details") return detailLines(state, height, style);
  if (pane === "graph") return graphLines(state, height, style);
  return [paneTitle(logTitle(state), state, style), ...logLines(state, height - 1, style)];
}

function filled(lines: readonly string[], height: number): string[] {
  return Array.from({ length: height }, (_, index) => lines[index] ?? "");
}

/** A line with totals of the apps; with room for two, a line about the machine before it. */
function headLines(state: TopState, height: number, style: Style): string[] {
  const apps = appsLine(state, style);
  return height < 2 ? [apps] : [hostLine(state, style), apps];
}

const SPARK = 10;

function hostLine({ host, hostCpu, columns }: TopState, style: Style): string {
  if (host === undefined) return style.bold("procsup");
  const line = joined(
    [`procsup ${cleanLine(host.hostname)}`, ...hostParts(host, hostCpu)],
    columns,
  );
  return style.bold(line.slice(0, 7)) + line.slice(7);
}

function hostParts(host: HostFigures, cpu: readonly number[]): string[] {
  const load = [host.cpu_load_1, host.cpu_load_5, host.cpu_load_15];
  return [
    `cpu ${host.cpu_percent.toFixed(0).padStart(3)}% ${sparkline(cpu, SPARK, 100)}`,
    `mem ${humanBytes(host.used_memory)} of ${humanBytes(host.total_memory)}`,
    `load ${load.map((value) => value.toFixed(2)).join(" ")}`,
    `up ${humanDuration(host.uptime_seconds * 1000)}`,
    counted(host.cpu_count, "core"),
  ];
}

/** Joins as many parts as fit. */
function joined(parts: readonly string[], width: number): string {
  let line = cut(parts[0]!, width);
  for (const part of parts.slice(1)) {
    if (textWidth(line) + 3 + textWidth(part) > width) break;
    line += `   ${part}`;
  }
  return line;
}

function appsLine(state: TopState, style: Style): string {
  const { columns, daemon } = state;
  if (state.lost !== undefined) return lostLine(state, style);
  const left = shorten(summary(state), columns);
  if (daemon === undefined) return left;
  const right = `daemon ${daemon.pid}  ${humanBytes(daemon.memory_bytes)}  ${
    cleanLine(daemon.version)
  }`;
  const gap = columns - textWidth(left) - textWidth(right);
  return gap < 3 ? left : left + " ".repeat(gap) + style.dim(right);
}

function summary({ processes, visible, filter, marked }: TopState): string {
  const states = processes.length === 0 ? "" : `: ${stateSummary(processes)}`;
  const shown = filter === "" ? "" : `   ${visible.length} shown by "${cleanLine(filter)}"`;
  const chosen = marked.size === 0 ? "" : `   ${marked.size} marked`;
  return `${counted(processes.length, "app")}${states}${shown}${chosen}`;
}

function lostLine({ lost, now, columns }: TopState, style: Style): string {
  const { since, reason } = lost!;
  const text = `connection lost, retrying (${humanDuration(now - since)}): ${cleanLine(reason)}`;
  return style.bad(shorten(text, columns));
}

/** The last line of the screen. */
function footLine(state: TopState, style: Style): string {
  const { prompt, notice, columns } = state;
  if (prompt !== undefined) return promptLine(prompt, state, style);
  if (notice !== undefined) {
    const text = shorten(cleanLine(notice.text), columns);
    return notice.bad ? style.bad(text) : style.good(text);
  }
  return hints(state, style);
}

function promptLine(prompt: Prompt, state: TopState, style: Style): string {
  const { columns } = state;
  if (prompt.type === "confirm") return style.bold(shorten(cleanLine(prompt.question), columns));
  const label = labelOf(prompt.type, state);
  // Keep the end of the typed text visible.
  const room = Math.max(1, columns - textWidth(label) - 1);
  const typed = cut(prompt.text, Infinity, Math.max(0, textWidth(prompt.text) - room));
  const line = label + typed + style.cursor(" ");
  const more = suggestions(prompt).slice(0, 20).join(" ");
  const left = columns - textWidth(line) - 2;
  return left > 4 && more !== "" ? `${line}  ${style.dim(shorten(more, left))}` : line;
}

function labelOf(type: Exclude<Prompt["type"], "confirm">, state: TopState): string {
  if (type === "palette") return ":";
  if (type !== "signal") return `${type}: `;
  const apps = chosen(state);
  return `signal to ${apps.length === 1 ? cleanLine(apps[0]!.name) : `${apps.length} apps`}: `;
}

/** Key labels that fit on one line, most useful first. */
function hints({ focus, columns }: TopState, style: Style): string {
  const [help, quit, ...common] = COMMON_BINDINGS;
  const own = focus === "pane" ? PANE_BINDINGS : TABLE_BINDINGS;
  let line = "";
  let width = 0;
  for (const { keys, hint } of [help!, quit!, ...own, ...common]) {
    if (hint === undefined) continue;
    const label = keyLabel(keys[0]!);
    const gap = width === 0 ? "" : "  ";
    width += gap.length + label.length + 1 + hint.length;
    if (width > columns) break;
    line += `${gap}${style.bold(label)} ${hint}`;
  }
  return line;
}

const FILTER_HELP = [
  "a filter is words that all must hold: part of a name, a number,",
  "a state, ns:NAME tag:TAG label:KEY=VALUE state:STATE, !WORD for not",
];

/** Lines of the help besides its text: the title, and how to leave. */
const OTHER_HELP = 2;

/** Title, keys in one or two columns, and how to leave. */
function helpLines(state: TopState, style: Style): string[] {
  const { help = 0, columns, rows } = state;
  const all = helpText(columns, style);
  const room = rows - OTHER_HELP;
  const from = Math.min(help, scrollLimit(state));
  const below = all.length - from - room;
  const foot = below > 0
    ? `${counted(below, "more line")}: j and k scroll`
    : "any other key closes the help";
  return [
    style.bold(shorten("procsup top", columns)),
    ...Array.from({ length: room }, (_, i) => cut(all[from + i] ?? "", columns)),
    style.dim(shorten(foot, columns)),
  ];
}

/** How far the help can be scrolled, or else the details. */
export function scrollLimit(state: TopState): number {
  const { help, columns, rows } = state;
  const style = styleOf(false);
  if (help !== undefined) return Math.max(0, helpText(columns, style).length - rows + OTHER_HELP);
  const process = current(state);
  if (process === undefined) return 0;
  return Math.max(0, detailText(state, process, style).length - paneHeight(state));
}

/** All keys, and the words of a filter. */
function helpText(columns: number, style: Style): string[] {
  const [apps, table, log] = [
    section("Apps and screen", COMMON_BINDINGS, style),
    section("In the table", TABLE_BINDINGS, style),
    section("In the logs", PANE_BINDINGS, style),
  ] as const;
  const upper = columns < 100
    ? [...apps, "", ...table]
    : sideBySide(table, apps, Math.floor(columns / 2));
  return [...upper, "", ...log, "", ...FILTER_HELP];
}

function section(title: string, bindings: readonly Binding[], style: Style): string[] {
  return [
    style.bold(title),
    ...bindings.map(({ keys, about }) => {
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
