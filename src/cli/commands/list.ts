/** `procsup list`. */

import { plainText, shortened } from "../../model/plain_text.ts";
import type { ProcessJson } from "../../protocol/wire.ts";
import { type Column, printTable, right } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { describeExitJson, healthWord, humanDuration, whileUp } from "../human.ts";
import { humanBytes } from "../../model/size.ts";
import { type Output, printData, printPids, refusePids } from "../output.ts";
import { paintState } from "../paint.ts";

/** Prints all processes or the targets, once or repeatedly. */
export async function list(context: CommandContext): Promise<number | void> {
  const { output } = context;
  if (context.flags.on("all-contexts")) {
    refusePids(output, "of several contexts");
    const { listAllContexts } = await import("../all_contexts.ts");
    return await listAllContexts(context, processColumns(output));
  }
  if (context.flags.on("watch")) {
    const { watchList } = await import("../watch_list.ts");
    return await watchList(context, processColumns(output));
  }
  const client = connect(context);
  const processes = await selected(await client.call("list"), context.positionals);
  if (output.format === "pid") return printPids(output, processes);
  if (await printData(output, processes, processes.map((process) => process.name))) return;
  if (processes.length === 0) {
    output.note("no apps yet\n  hint: procsup start <script>");
    return;
  }
  // Without an answer the column is missing. The second request uses the connection of the first:
  // two of ssh would both ask for a passphrase.
  const listening = await client.call("ports").catch(() => []);
  const ports = listening.map(({ id, ports }) =>
    [id, [...new Set(ports.map(({ port }) => port))].join(" ")] as const
  );
  printTable(output, processColumns(output, new Map(ports)), processes);
  const bad = processes.find(({ state }) => state === "errored" || state === "crashed");
  if (output.terminal && bad !== undefined) output.note(`  hint: procsup why ${bad.name}`);
}

/** Selects the targets. Their parser is loaded only if there are any. */
async function selected(
  processes: readonly ProcessJson[],
  targets: readonly string[],
): Promise<readonly ProcessJson[]> {
  if (targets.length === 0) return processes;
  return (await import("../../protocol/select_processes.ts")).selectProcesses(processes, targets);
}

type ProcessColumn = Column<ProcessJson>;

/** The columns of `-o table`, or of `-o wide`. `ports` are those of each process, by its id. */
function processColumns(
  { format, color }: Output,
  ports: ReadonlyMap<string, string> = new Map(),
): readonly ProcessColumn[] {
  const state: ProcessColumn = {
    header: "STATE",
    priority: 0,
    // A job is stopped most of the time, which is not a problem.
    value: ({ state, config }) =>
      state === "stopped" && config.cron !== undefined ? "stopped (cron)" : state,
    paint: (text, process) => paintState(text, process.state, color),
  };
  const health: ProcessColumn = {
    header: "HEALTH",
    priority: 0,
    isShown: (processes) => processes.some(({ config }) => config.health_check !== undefined),
    value: healthWord,
    paint: (text, process) => paintState(text, process.health, color),
  };
  const status: ProcessColumn = {
    header: "STATUS",
    priority: 6,
    isShown: (processes) => processes.some(({ status_text }) => status_text !== undefined),
    value: ({ status_text = "-" }) => shortened(plainText(status_text).replace(/\s+/g, " "), 40),
  };
  const portsOf = ({ id }: ProcessJson) => ports.get(id) ?? "";
  const listening: ProcessColumn = {
    header: "PORTS",
    priority: 4,
    isShown: (processes) => processes.some((process) => portsOf(process) !== ""),
    value: (process) => portsOf(process) || "-",
  };
  const [id, name, ...rest] = PLAIN as [ProcessColumn, ProcessColumn, ...ProcessColumn[]];
  return [id, name, state, health, ...rest, listening, status, ...(format === "wide" ? WIDE : [])];
}

const PLAIN: readonly ProcessColumn[] = [
  right("ID", 2, (process) => String(process.numeric_id)),
  { header: "NAME", priority: 0, value: (process) => plainText(process.name) },
  right("PID", 3, whileUp((process) => String(process.pid))),
  right("UPTIME", 1, whileUp((process) => humanDuration(process.uptime / 1e6))),
  right("RESTARTS", 4, (process) => String(process.restarts)),
  right("CPU", 6, whileUp((process) => `${process.cpu_percent.toFixed(1)}%`)),
  right("MEM", 5, whileUp((process) => humanBytes(process.memory_bytes))),
  { header: "NS", priority: 7, value: (process) => plainText(process.namespace) },
];

const WIDE: readonly ProcessColumn[] = [
  { header: "RUNTIME", priority: 8, value: (process) => process.runtime },
  right("THREADS", 9, whileUp((p) => String(p.threads))),
  right("FDS", 9, whileUp((process) => String(process.fds))),
  { header: "EXIT", priority: 8, value: describeExitJson },
  {
    header: "REASON",
    priority: 9,
    value: (process) => plainText(process.last_reason).replace(/\s+/g, " ") || "-",
  },
];
