/** `procsup status`: one app or several, or the daemon. */

import { ERROR_TABLE } from "../../model/errors.ts";
import { plainText } from "../../model/plain_text.ts";
import { pathsIn } from "../../platform/paths.ts";
import type { ProcessJson } from "../../protocol/process_json.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import {
  clockTime,
  commandLine,
  describeExitJson,
  stateCounts,
  stateSummary,
} from "../describe.ts";
import { humanBytes, humanDuration } from "../human.ts";
import { askEachMatch } from "./inspect.ts";
import type { Output } from "../output.ts";
import { paintState } from "../paint.ts";
import { printData } from "../print_data.ts";
import { reportError } from "../report_error.ts";

const NOT_RUNNING = 3;

type Line = readonly [key: string, value: string];

/** Prints the targets, or the daemon when there are none: 0 all running, 3 not, 4 no such process. */
export async function status(context: CommandContext): Promise<number> {
  if (context.positionals.length === 0) return await daemonStatus(context);
  const client = connect(context);
  let worst = 0;
  let printed = 0;
  for (const target of context.positionals) {
    try {
      const found = await askEachMatch(
        client,
        target,
        (target) => client.call("status", { target }),
      );
      for (const process of found) {
        if (process.state !== "running") worst = Math.max(worst, NOT_RUNNING);
        await print(context, process, printed++ > 0);
      }
    } catch (error) {
      const code = reportError(error);
      worst = Math.max(worst, code);
      if (code === ERROR_TABLE.daemon_unreachable.exit) break;
    }
  }
  return worst;
}

async function print(
  { output, home }: CommandContext,
  process: ProcessJson,
  apart: boolean,
): Promise<void> {
  if (await printData(output, process, [process.name])) return;
  if (apart) output.done("");
  const folder = `${pathsIn(home).apps}/${process.name}`;
  const up = process.pid > 0;
  const lines: (Line | false)[] = [
    ["name", process.name],
    ["id", `${process.numeric_id} (${process.id})`],
    ["state", paintState(process.state, process.state, output.color)],
    process.health !== "unknown" && ["health", process.health],
    process.state === "starting" && ["ready", process.ready ? "yes" : "not yet"],
    ["pid", up ? String(process.pid) : "-"],
    ["uptime", up ? humanDuration(process.uptime / 1e6) : "-"],
    ["restarts", String(process.restarts)],
    ...schedules(process),
    process.next_restart_at !== null && ["next restart", clockTime(process.next_restart_at)],
    ["cpu", up ? `${process.cpu_percent.toFixed(1)}%` : "-"],
    ["mem", up ? humanBytes(process.memory_bytes) : "-"],
    ["command", commandLine(process)],
    process.runtime !== "" && ["runtime", process.runtime],
    ["cwd", String(process.config.cwd ?? "-")],
    ["namespace", process.namespace],
    process.tags.length > 0 && ["tags", process.tags.join(", ")],
    ["stdout", `${folder}/stdout.log`],
    ["stderr", `${folder}/stderr.log`],
    ["last exit", lastExit(process)],
    ["reason", plainText(process.last_reason) || "-"],
  ];
  printLines(output, lines.filter((line) => line !== false));
}

/** What the clock does to it, and how to learn when. */
function schedules({ name, config }: ProcessJson): Line[] {
  return Object.entries({ "cron": config.cron, "cron restart": config.cron_restart })
    .filter(([, given]) => given !== undefined)
    .map(([key, given]) => {
      const { schedule, timezone } = given as { schedule: string; timezone?: string };
      const zone = timezone === undefined ? "" : ` ${timezone}`;
      return [key, plainText(`${schedule}${zone}, see procsup cron next ${name}`)];
    });
}

function lastExit(process: ProcessJson): string {
  if (process.last_exit === null) return "-";
  return `${describeExitJson(process)}, at ${clockTime(process.last_exit.at)}`;
}

async function daemonStatus(context: CommandContext): Promise<number> {
  const client = connect(context);
  const [ping, processes] = await Promise.all([client.call("ping"), client.call("list")]);
  const { output, home } = context;
  const counts = Object.fromEntries(stateCounts(processes));
  const { version, protocol } = ping;
  const data = { version, protocol, home, count: processes.length, states: counts };
  if (await printData(output, data, processes.map((process) => process.name))) return 0;
  printLines(output, [
    ["daemon", `running, procsup ${version}`],
    ["home", home],
    ["apps", processes.length === 0 ? "none" : stateSummary(processes)],
  ]);
  return 0;
}

function printLines(output: Output, lines: readonly Line[]): void {
  const width = Math.max(...lines.map(([key]) => key.length)) + 1;
  for (const [key, value] of lines) output.done(`${`${key}:`.padEnd(width)}  ${value}`);
}
