/** `procsup why`, `status`, `wait` and `ping`. */

import { type LogPathConfig, logPaths } from "../../model/log_paths.ts";
import { baseName } from "../../model/name.ts";
import { plainText } from "../../model/plain_text.ts";
import type { ProcessState, WaitPoint } from "../../model/process_info.ts";
import { pathsIn } from "../../platform/files/paths.ts";
import { PROTOCOL } from "../../protocol/version.ts";
import type { ProcessJson, ReleaseJson, WhyJson } from "../../protocol/wire.ts";
import { askEachMatch } from "../../protocol/select_processes.ts";
import type { CommandContext } from "../command.ts";
import { connect, homeOf } from "../connect.ts";
import {
  clockTime,
  commandLine,
  describeExitJson,
  humanDuration,
  stateCounts,
  stateSummary,
} from "../human.ts";
import { humanBytes } from "../../model/size.ts";
import { NOT_RUNNING, type Output, printData, printPids } from "../output.ts";
import { paintState } from "../paint.ts";
import { hintLine } from "../report_error.ts";
import { tryEach } from "../results.ts";

/** Explains the state of a process. */
export async function why(context: CommandContext): Promise<void> {
  const client = connect(context);
  const ask = (target: string) => client.call("why", { target });
  const list = () => client.call("list");
  const answers = await askEachMatch(context.positionals[0]!, ask, list);
  const names = answers.map(({ process }) => process.name);
  if (await printData(context.output, oneOrAll(answers), names)) return;
  for (const [index, why] of answers.entries()) {
    if (index > 0) context.output.data("");
    printWhy(context.output, why);
  }
}

function printWhy(
  output: Output,
  { process, reasons, error_line, last_output, last_release, hints }: WhyJson,
): void {
  const [first, ...others] = reasons.map(plainText);
  const { name, state } = process;
  const plain = `${name} is ${state}`;
  const colored = `${name} is ${paintState(state, state, output.color)}`;
  output.data(first === undefined ? colored : first.replace(plain, colored));
  if (error_line !== undefined) output.data(`  error: ${plainText(error_line)}`);
  for (const reason of others) output.data(`  ${reason}`);
  if (process.last_exit !== null) output.data(`  last exit: ${lastExit(process)}`);
  if (last_output.length > 0) output.data("  last lines:");
  for (const line of last_output) output.data(`    ${plainText(line)}`);
  if (last_release !== undefined) {
    for (const line of releaseLines(last_release)) output.data(`  ${plainText(line)}`);
  }
  for (const hint of hints) output.data(hintLine(hint));
}

/** The last release of an app in lines; those after the first are about its failure. */
function releaseLines({ by, changed, begun_at, ended_at, result, failure }: ReleaseJson): string[] {
  const what = changed.join(", ") || "the same configuration";
  const took = ended_at === null ? 0 : Date.parse(ended_at) - Date.parse(begun_at);
  const how = result === null
    ? "under way"
    : `${result.replace("_", " ")} after ${humanDuration(took)}`;
  const head = `last release: ${what}, by ${by} at ${clockTime(begun_at)}: ${how}`;
  if (failure === undefined) return [head];
  const { instance, reason, last_output } = failure;
  return [head, `  ${instance}: ${reason}`, ...last_output.map((line) => `    ${line}`)];
}

/** Waits. With `--for exit`, returns the highest exit code of the processes. */
export async function wait(context: CommandContext): Promise<number> {
  const client = connect(context);
  const { flags, output } = context;
  const point = (flags.text("for") ?? "ready") as WaitPoint;
  const processes = await client.call("wait", {
    target: context.positionals[0]!,
    for: point,
    timeout: flags.text("timeout"),
  });
  if (!await printData(output, processes, processes.map((process) => process.name))) {
    for (const process of processes) output.done(line(process, point));
  }
  return point === "exit" ? Math.max(0, ...processes.map(exitCode)) : 0;
}

function line(process: ProcessJson, point: string): string {
  if (point !== "exit") return `✔ ${process.name}  ${process.state}`;
  return `${process.name}  exit ${describeExitJson(process)}`;
}

/** An unknown exit code counts as a failure. */
function exitCode({ last_exit }: ProcessJson): number {
  return last_exit?.code ?? 1;
}

/** Prints that the daemon answers, and its version. */
export async function ping(context: CommandContext): Promise<void> {
  const client = connect(context);
  const data = await client.call("ping");
  const { output } = context;
  if (!await printData(output, data)) output.data(`pong (procsup ${data.version})`);
  if (data.protocol !== PROTOCOL) {
    output.note(`the daemon speaks protocol ${data.protocol}, this program ${PROTOCOL}`);
  }
}

/** A single answer is not printed as a list. */
function oneOrAll<T>(answers: readonly T[]): T | readonly T[] {
  return answers.length === 1 ? answers[0]! : answers;
}

type Line = readonly [key: string, value: string];

/** Prints the targets, or the daemon without any. Exit codes: 0 all running, 3 not, 4 unknown. */
export async function status(context: CommandContext): Promise<number> {
  if (context.positionals.length === 0) return await daemonStatus(context);
  const client = connect(context);
  const ask = (target: string) => client.call("status", { target });
  const list = () => client.call("list");
  const found: ProcessJson[] = [];
  const worst = await tryEach(context.command.name, context.positionals, async (target) => {
    found.push(...await askEachMatch(target, ask, list));
  });
  if (found.length === 0) return worst;
  if (context.output.format === "pid") printPids(context.output, found);
  else if (!await printData(context.output, oneOrAll(found), found.map(({ name }) => name))) {
    for (const [index, process] of found.entries()) await print(context, process, index > 0);
  }
  return found.some(({ state }) => state !== "running") ? Math.max(worst, NOT_RUNNING) : worst;
}

async function print(context: CommandContext, process: ProcessJson, apart: boolean): Promise<void> {
  const { output } = context;
  if (apart) output.done("");
  const folder = `${pathsIn(await homeOf(context)).apps}/${process.name}`;
  const { cwd = "/", log = {} } = process.config as Partial<LogPathConfig>;
  const own = logPaths({ name: baseName(process.name), cwd, log }, process.instance_index);
  const up = process.pid > 0;
  const lines: (Line | false)[] = [
    ["name", process.name],
    ["id", `${process.numeric_id} (${process.id})`],
    ["state", process.state],
    process.health !== "unknown" && ["health", process.health],
    process.status_text !== undefined && ["status", plainText(process.status_text)],
    process.state === "starting" && ["ready", process.ready ? "yes" : "not yet"],
    ["pid", up ? String(process.pid) : "-"],
    ["uptime", up ? humanDuration(process.uptime / 1e6) : "-"],
    ["restarts", String(process.restarts)],
    ...schedules(process),
    process.next_restart_at !== null && ["next restart", clockTime(process.next_restart_at)],
    ["cpu", up ? `${process.cpu_percent.toFixed(1)}%` : "-"],
    ["mem", up ? humanBytes(process.memory_bytes) : "-"],
    ["command", commandLine(process)],
    ["runtime", process.runtime],
    ["cwd", String(process.config.cwd ?? "-")],
    ["namespace", process.namespace],
    process.tags.length > 0 && ["tags", process.tags.join(", ")],
    ["stdout", own.stdout ?? `${folder}/stdout.log`],
    ["stderr", own.stderr ?? `${folder}/stderr.log`],
    ["last exit", lastExit(process)],
    ["reason", process.last_reason],
  ];
  printLines(output, lines.filter((line) => line !== false), process.state);
}

/** Lines about its schedules, with the command that shows the next runs. */
function schedules({ name, config }: ProcessJson): Line[] {
  return Object.entries({ "cron": config.cron, "cron restart": config.cron_restart })
    .filter(([, given]) => given !== undefined)
    .map(([key, given]) => {
      const { schedule, timezone } = given as { schedule: string; timezone?: string };
      const zone = timezone === undefined ? "" : ` ${timezone}`;
      return [key, `${schedule}${zone}, see procsup cron next ${name}`];
    });
}

function lastExit(process: ProcessJson): string {
  if (process.last_exit === null) return "-";
  return `${describeExitJson(process)}, at ${clockTime(process.last_exit.at)}`;
}

async function daemonStatus(context: CommandContext): Promise<number> {
  const client = connect(context);
  const [{ protocol }, { daemon }, processes] = await Promise.all([
    client.call("ping"),
    client.call("system_metrics"),
    client.call("list"),
  ]);
  const { output } = context;
  const home = await homeOf(context);
  const { version, pid, uptime_seconds, memory_bytes } = daemon;
  const data = {
    ...{ version, protocol, home, pid, uptime_seconds, memory_bytes },
    count: processes.length,
    states: Object.fromEntries(stateCounts(processes)),
  };
  if (output.format === "pid") return printPids(output, [daemon]);
  if (await printData(output, data, processes.map((process) => process.name))) return 0;
  printLines(output, [
    ["daemon", `running, procsup ${version}`],
    ["home", home],
    ["pid", String(pid)],
    ["uptime", humanDuration(uptime_seconds * 1000)],
    ["mem", humanBytes(memory_bytes)],
    ["apps", processes.length === 0 ? "none" : stateSummary(processes)],
  ]);
  return 0;
}

function printLines(output: Output, lines: readonly Line[], state?: ProcessState): void {
  const width = Math.max(...lines.map(([key]) => key.length)) + 1;
  for (const [key, value] of lines) {
    const text = plainText(value) || "-";
    const shown = key === "state" && state ? paintState(text, state, output.color) : text;
    output.done(`${`${key}:`.padEnd(width)}  ${shown}`);
  }
}
