/** The details of one app: why it is as it is, what it is, what happened to it. Pure. */

import type { ProcessJson } from "../../protocol/process_json.ts";
import { clockTime, commandLine, describeExitJson } from "../describe.ts";
import { counted, humanBytes } from "../human.ts";
import { current, type TopState } from "./state.ts";
import type { Style } from "./style.ts";
import { cleanLine, cut, wrap } from "./text.ts";
import { healthWord } from "./table_columns.ts";
import { paneTitle } from "./view_title.ts";

const NEWS = 8;
const KEY_WIDTH = 14;

/** The title, and as many lines as fit. */
export function detailLines(state: TopState, height: number, style: Style): string[] {
  const process = current(state);
  const title = (more: string) =>
    paneTitle([`details ${process?.name ?? ""}`.trim(), more], state, style);
  if (process === undefined) return [title("")];
  const all = contents(state, process, style).flatMap((line) => wrap(line, state.columns));
  const from = Math.min(state.scroll, Math.max(0, all.length - height + 1));
  const below = all.length - from - (height - 1);
  return [
    title(below > 0 ? counted(below, "more line") : ""),
    ...all.slice(from, from + height - 1).map((line) => cut(line, state.columns)),
  ];
}

function contents(state: TopState, process: ProcessJson, style: Style): string[] {
  const { why, events, now } = state;
  const stderr = why?.last_stderr ?? [];
  const news = events.filter(({ name }) => name === process.name).slice(-NEWS).reverse();
  const heading = (text: string) => ["", style.bold(text)];
  return [
    ...(why?.reasons ?? [process.last_reason]).map(cleanLine).filter((line) => line !== ""),
    "",
    ...fields(process, state.ports.get(process.id) ?? []).map(([key, value]) =>
      `${key.padEnd(KEY_WIDTH)}${cleanLine(value)}`
    ),
    ...(news.length === 0 ? [] : heading("what happened")),
    ...news.map(({ at, type, reason }) =>
      `  ${clockTime(at, new Date(now))}  ${type.padEnd(9)} ${cleanLine(reason)}`.trimEnd()
    ),
    ...(stderr.length === 0 ? [] : heading("last lines of stderr")),
    ...stderr.map((line) => `  ${cleanLine(line)}`),
  ];
}

function fields(process: ProcessJson, ports: readonly number[]): [key: string, value: string][] {
  const { config, pid, last_exit, next_restart_at } = process;
  const all: [string, string | false][] = [
    ["state", process.state],
    ["health", healthWord(process)],
    ["pid", pid > 0 && `${pid}   threads ${process.threads}   open files ${process.fds}`],
    ["ports", ports.join(" ")],
    ["memory", pid > 0 && `${humanBytes(process.memory_bytes)}, ${process.mem_percent}%`],
    ["command", commandLine(process)],
    ["cwd", text(config.cwd)],
    ["runtime", process.runtime],
    ["namespace", process.namespace],
    ["tags", process.tags.join(", ")],
    ["labels", labels(config.labels)],
    ["started", process.started_at !== null && clockTime(process.started_at)],
    ["restarts", `${process.restarts}, policy ${text(config.restart_policy) || "-"}`],
    ["next restart", next_restart_at !== null && clockTime(next_restart_at)],
    [
      "last exit",
      last_exit !== null && `${describeExitJson(process)} at ${clockTime(last_exit.at)}`,
    ],
  ];
  return all.filter((field): field is [string, string] => field[1] !== false && field[1] !== "");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function labels(value: unknown): string {
  return Object.entries((value ?? {}) as Record<string, string>)
    .map(([key, is]) => `${key}=${is}`).join(", ");
}
