/** The first lines: the machine, the apps together, and whether the daemon is there. Pure. */

import { stateSummary } from "../describe.ts";
import { counted, humanBytes, humanDuration } from "../human.ts";
import { textWidth } from "../text_width.ts";
import { sparkline } from "./spark.ts";
import type { HostFigures } from "./figures.ts";
import type { TopState } from "./state.ts";
import type { Style } from "./style.ts";
import { cleanLine, cut, shorten } from "./text.ts";

/** One line about the apps, and before it one about the machine where there is room for two. */
export function headLines(state: TopState, height: number, style: Style): string[] {
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
  const { cpuPercent, usedMemory, totalMemory, load, uptimeSeconds, cpuCount } = host;
  const percent = `${cpuPercent.toFixed(0).padStart(3)}%`;
  return [
    `cpu ${percent} ${sparkline(cpu, SPARK, 100)}`,
    `mem ${humanBytes(usedMemory)} of ${humanBytes(totalMemory)}`,
    `load ${load.map((value) => value.toFixed(2)).join(" ")}`,
    `up ${humanDuration(uptimeSeconds * 1000)}`,
    counted(cpuCount, "core"),
  ];
}

/** As many parts as there is room for. */
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
  const right = `daemon ${daemon.pid}  ${humanBytes(daemon.memory)}  ${cleanLine(daemon.version)}`;
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
