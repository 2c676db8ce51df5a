/** `procsup cron`: scheduled jobs and restarts. */

import { ProcsupError } from "../../model/errors.ts";
import { plainText } from "../../model/plain_text.ts";
import type { CronJson, CronRunJson } from "../../protocol/wire.ts";
import type { DaemonClient } from "../../protocol/daemon_client.ts";
import { type Column, printList, right } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { clockTime, humanDuration } from "../human.ts";
import { type Output, printData, printDone } from "../output.ts";
import { verbIn, wordAfter } from "../unknown_word.ts";
import { commandHint } from "../../model/hint.ts";

/** Runs a verb. `list` and `history` show all schedules if no name is given. */
type Verb = (client: DaemonClient, output: Output, name?: string) => Promise<void>;

const VERBS: Readonly<Record<string, Verb>> = {
  list,
  history,
  start: switched("start", "on"),
  stop: switched("stop", "off"),
  run: switched("run"),
  next: nextRuns,
};

/** Lists the schedules, or runs a verb. */
export async function cron(context: CommandContext): Promise<void> {
  const [verb = "list", name] = context.positionals;
  await verbIn("cron", VERBS, verb)(connect(context), context.output, name);
}

async function list(client: DaemonClient, output: Output, name?: string): Promise<void> {
  const schedules = await client.call("cron_list", name === undefined ? undefined : { name });
  const none = "no schedules\n  hint: procsup start <script> --cron '0 4 * * *'";
  await printList(output, SCHEDULE_COLUMNS, schedules, none);
}

function switched(verb: "start" | "stop" | "run", word?: string): Verb {
  return async (client, output, target) => {
    const name = wordAfter(`cron ${verb}`, target, "a target");
    const result = await client.call(`cron_${verb}`, { name });
    const done = word === undefined ? result.status : `schedule ${word}`;
    await printDone(output, result, `${name}  ${done}`, [name]);
  };
}

async function nextRuns(client: DaemonClient, output: Output, name?: string): Promise<void> {
  const schedules = await scheduled(client, wordAfter("cron next", name, "a target"));
  const next = schedules.map(({ name, timezone, enabled, next_runs }) => ({
    name,
    timezone,
    enabled,
    next_runs,
  }));
  if (await printData(output, next, next.map(({ name }) => name))) return;
  for (const { name, enabled, next_runs } of next) {
    if (!enabled) output.note(`the schedule of ${name} is off`);
    for (const moment of next_runs ?? []) output.data(`${plainText(name)}  ${clockTime(moment)}`);
  }
}

async function history(client: DaemonClient, output: Output, name?: string): Promise<void> {
  const schedules = name === undefined
    ? await client.call("cron_list", undefined)
    : await scheduled(client, name);
  const runs = schedules.flatMap(({ name, history }) => history.map((run) => ({ name, ...run })))
    .sort((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at));
  const none = name === undefined ? "no runs yet" : `${name} has not run yet`;
  await printList(output, RUN_COLUMNS, runs, none);
}

async function scheduled(client: DaemonClient, name: string): Promise<readonly CronJson[]> {
  const schedules = await client.call("cron_list", { name });
  if (schedules.length > 0) return schedules;
  throw new ProcsupError("wrong_state", `No schedule: "${name}"`, {
    hint: commandHint("cron list"),
  });
}

/** A run that is not over may be what makes the next one overdue. */
function statusOf({ running, overdue_since, last_status }: CronJson): string {
  const now = [...running ? ["running"] : [], ...overdue_since === null ? [] : ["overdue"]];
  return now.join(", ") || (last_status ?? "-");
}

const orDash = (iso: string | null) => iso === null ? "-" : clockTime(iso);

const SCHEDULE_COLUMNS: readonly Column<CronJson>[] = [
  { header: "NAME", priority: 0, value: ({ name }) => plainText(name) },
  { header: "TYPE", priority: 4, value: ({ type }) => type },
  { header: "SCHEDULE", priority: 0, value: ({ schedule }) => plainText(schedule) },
  { header: "TIMEZONE", priority: 5, value: ({ timezone }) => plainText(timezone) },
  { header: "ENABLED", priority: 2, value: ({ enabled }) => enabled ? "yes" : "no" },
  { header: "NEXT", priority: 1, value: ({ next_run }) => orDash(next_run) },
  { header: "LAST", priority: 3, value: ({ last_run }) => orDash(last_run) },
  {
    header: "STATUS",
    priority: 1,
    value: statusOf,
  },
  right("EXIT", 3, ({ running, last_exit_code }) => running ? "-" : String(last_exit_code ?? "-")),
];

const RUN_COLUMNS: readonly Column<CronRunJson & { readonly name: string }>[] = [
  { header: "NAME", priority: 1, value: ({ name }) => plainText(name) },
  { header: "AT", priority: 0, value: ({ started_at }) => clockTime(started_at) },
  right("DURATION", 2, (run) => run.status === "skipped" ? "-" : took(run)),
  {
    header: "STATUS",
    priority: 0,
    value: ({ status, times }) => times === undefined ? status : `${status} ×${times}`,
  },
  right("EXIT", 0, ({ exit_code }) => String(exit_code ?? "-")),
];

function took({ started_at, finished_at }: CronRunJson): string {
  const ms = Date.parse(finished_at) - Date.parse(started_at);
  return ms < 1000 ? `${ms}ms` : humanDuration(ms);
}
