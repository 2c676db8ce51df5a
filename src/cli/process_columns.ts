/** The columns of `procsup list`. */

import { plainText } from "../model/plain_text.ts";
import { describeExitJson } from "./describe.ts";
import type { ProcessJson } from "../protocol/process_json.ts";
import type { Column } from "./columns.ts";
import { humanBytes, humanDuration } from "./human.ts";
import { paintState } from "./paint.ts";

type ProcessColumn = Column<ProcessJson>;

/** The columns of `-o table`, or of `-o wide`. */
export function processColumns(wide: boolean, color: boolean): readonly ProcessColumn[] {
  const state: ProcessColumn = {
    header: "STATE",
    priority: 0,
    // A job is stopped most of the time: that is no trouble.
    value: ({ state, config }) =>
      state === "stopped" && config.cron !== undefined ? "stopped (cron)" : state,
    paint: (text, process) => paintState(text, process.state, color),
  };
  const [id, name, ...rest] = PLAIN as [ProcessColumn, ProcessColumn, ...ProcessColumn[]];
  return [id, name, state, ...rest, ...(wide ? WIDE : [])];
}

const whileUp = (text: (process: ProcessJson) => string) => (process: ProcessJson) =>
  process.pid > 0 ? text(process) : "-";

const PLAIN: readonly ProcessColumn[] = [
  { header: "ID", align: "right", priority: 2, value: (process) => String(process.numeric_id) },
  { header: "NAME", priority: 0, value: (process) => plainText(process.name) },
  { header: "PID", align: "right", priority: 3, value: whileUp((process) => String(process.pid)) },
  {
    header: "UPTIME",
    align: "right",
    priority: 1,
    value: whileUp((process) => humanDuration(process.uptime / 1e6)),
  },
  { header: "RESTARTS", align: "right", priority: 4, value: (process) => String(process.restarts) },
  {
    header: "CPU",
    align: "right",
    priority: 6,
    value: whileUp((process) => `${process.cpu_percent.toFixed(1)}%`),
  },
  {
    header: "MEM",
    align: "right",
    priority: 5,
    value: whileUp((process) => humanBytes(process.memory_bytes)),
  },
  { header: "NS", priority: 7, value: (process) => plainText(process.namespace) },
];

const WIDE: readonly ProcessColumn[] = [
  { header: "RUNTIME", priority: 8, value: (process) => process.runtime || "-" },
  { header: "THREADS", align: "right", priority: 9, value: whileUp((p) => String(p.threads)) },
  { header: "FDS", align: "right", priority: 9, value: whileUp((process) => String(process.fds)) },
  { header: "EXIT", priority: 8, value: describeExitJson },
  {
    header: "REASON",
    priority: 9,
    value: (process) => plainText(process.last_reason).replace(/\s+/g, " ") || "-",
  },
];
