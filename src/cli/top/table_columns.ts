/** The columns of the table of apps. Pure. */

import { baseName } from "../../model/name.ts";
import type { ProcessJson } from "../../protocol/process_json.ts";
import { humanBytes, humanDuration } from "../human.ts";
import { paintState } from "../paint.ts";
import { type Histories, NO_HISTORY } from "./history.ts";
import type { SortKey } from "./sort.ts";
import { sparkline } from "./spark.ts";
import { cleanLine } from "./text.ts";

/** A column of fixed width: what is scrolled does not move it. */
export interface TableColumn {
  readonly header: string;
  readonly width: number;
  readonly align: "left" | "right";
  /** The higher, the earlier it is dropped; 0 stays. */
  readonly priority: number;
  /** The order that is by this column. */
  readonly sort?: SortKey;
  readonly value: (process: ProcessJson) => string;
  readonly paint?: (text: string, process: ProcessJson) => string;
}

/** What the columns are made for. */
export interface ColumnsFor {
  readonly processes: readonly ProcessJson[];
  readonly histories: Histories;
  readonly nameWidth: number;
  readonly color: boolean;
  /** What they listen on, where that is to be shown. */
  readonly ports: ReadonlyMap<string, readonly number[]> | undefined;
}

const SPARK = 8;
const NS_WIDTH = 12;
const MOST_PORTS = 20;

const whileUp = (text: (process: ProcessJson) => string) => (process: ProcessJson) =>
  process.pid > 0 ? text(process) : "-";

/** All columns, in their order. */
export function tableColumns(given: ColumnsFor): readonly TableColumn[] {
  const { processes, nameWidth, color } = given;
  const most = processes.reduce((most, { numeric_id }) => Math.max(most, numeric_id), 0);
  return [
    column("ID", Math.max(2, String(most).length), "right", 4, (p) => String(p.numeric_id), "id"),
    column("NAME", nameWidth, "left", 0, ({ name }) => cleanLine(name), "name"),
    {
      ...column("STATE", 8, "left", 0, ({ state }) => state, "state"),
      paint: (text, { state }) => paintState(text, state, color),
    },
    column("HEALTH", 9, "left", 5, healthWord),
    column("CPU", 6, "right", 1, whileUp((p) => `${p.cpu_percent.toFixed(1)}%`), "cpu"),
    column("", SPARK, "left", 9, cpuSpark(given)),
    column("MEM", 6, "right", 2, whileUp((p) => humanBytes(p.memory_bytes)), "mem"),
    column("", SPARK, "left", 10, memSpark(given)),
    column("RESTARTS", 8, "right", 3, ({ restarts }) => String(restarts), "restarts"),
    column("UPTIME", 6, "right", 2, whileUp((p) => humanDuration(p.uptime / 1e6)), "uptime"),
    column("PID", 7, "right", 6, whileUp(({ pid }) => String(pid))),
    ...(given.ports === undefined ? [] : [portsColumn(processes, given.ports)]),
    column("INST", 4, "right", 7, instanceOf(processes)),
    column("NS", NS_WIDTH, "left", 8, ({ namespace }) => cleanLine(namespace)),
  ];
}

/** As wide as the longest, within reason. */
function portsColumn(
  processes: readonly ProcessJson[],
  ports: ReadonlyMap<string, readonly number[]>,
): TableColumn {
  const text = ({ id }: ProcessJson) => ports.get(id)?.join(" ") ?? "-";
  const width = processes.reduce((most, process) => Math.max(most, text(process).length), 5);
  return column("PORTS", Math.min(MOST_PORTS, width), "left", 1, text);
}

function column(
  header: string,
  width: number,
  align: "left" | "right",
  priority: number,
  value: (process: ProcessJson) => string,
  sort?: SortKey,
): TableColumn {
  return { header, width, align, priority, value, ...(sort === undefined ? {} : { sort }) };
}

/** What its checks say; without checks, whether what it waits for has come. */
export function healthWord({ pid, health, ready, config }: ProcessJson): string {
  if (pid === 0) return "-";
  if (health !== "unknown") return health;
  if (!ready) return "not ready";
  return config.wait_ready === true ? "ready" : "-";
}

function cpuSpark({ histories }: ColumnsFor): (process: ProcessJson) => string {
  return ({ id }) => sparkline((histories.get(id) ?? NO_HISTORY).cpu, SPARK, 100);
}

/** Memory has no natural top: the most that it was, and a little. */
function memSpark({ histories }: ColumnsFor): (process: ProcessJson) => string {
  return ({ id }) => {
    const mem = (histories.get(id) ?? NO_HISTORY).mem.slice(-SPARK);
    return sparkline(mem, SPARK, Math.max(...mem) * 1.25);
  };
}

function instanceOf(processes: readonly ProcessJson[]): (process: ProcessJson) => string {
  const counts = new Map<string, number>();
  for (const { name } of processes) {
    counts.set(baseName(name), (counts.get(baseName(name)) ?? 0) + 1);
  }
  return ({ name, instance_index }) => {
    const count = counts.get(baseName(name)) ?? 1;
    return name === baseName(name) ? "-" : `${instance_index + 1}/${count}`;
  };
}
