/** `cron_list`, `cron_start`, `cron_stop` and `cron_run`: cron jobs, and restarts by cron. */

import type { CronInfo } from "../../schedules/schedule_entry.ts";
import type { CronRun } from "../../schedules/schedule_store.ts";
import type { CronJson, CronRunJson } from "../../protocol/wire.ts";
import type { CRON_VERBS } from "./rows.ts";
import type { Handlers } from "../../daemon/verb_context.ts";

export const CRON_HANDLERS: Handlers<keyof typeof CRON_VERBS> = {
  /** Lists every schedule with its history. With a name, the next runs are included. */
  cron_list({ supervisor: { directory, scheduler } }, { name }) {
    if (name === undefined) return scheduler.list().map(cronJson);
    const processes = directory.resolve(name);
    return scheduler.list(processes).map((info) => {
      const process = processes.find(({ name }) => name === info.name)!;
      return {
        ...cronJson(info),
        next_runs: scheduler.moments(process).map((moment) => moment.toISOString()),
      };
    });
  },
  cron_start({ supervisor: { directory, scheduler } }, { name }) {
    scheduler.enable(directory.resolve(name), true);
    return { status: "started", name };
  },
  cron_stop({ supervisor: { directory, scheduler } }, { name }) {
    scheduler.enable(directory.resolve(name), false);
    return { status: "stopped", name };
  },
  /** Answers as soon as the run has begun. */
  cron_run({ supervisor: { directory, scheduler } }, { name }) {
    return { status: scheduler.run(directory.resolve(name)), name };
  },
};

function cronJson(info: CronInfo): CronJson {
  const last = info.history.findLast(({ status }) => status !== "skipped");
  return {
    name: info.name,
    type: info.isJob ? "job" : "restart",
    schedule: info.schedule,
    timezone: info.timezone,
    enabled: info.enabled,
    running: info.running,
    last_run: last === undefined ? null : new Date(last.at).toISOString(),
    last_status: last?.status ?? null,
    last_exit_code: last?.exitCode ?? null,
    next_run: info.nextRun?.toISOString() ?? null,
    overdue_since: info.overdueSince?.toISOString() ?? null,
    history: info.history.map(runJson),
  };
}

function runJson({ at, durationMs, status, exitCode, times }: CronRun): CronRunJson {
  return {
    started_at: new Date(at).toISOString(),
    finished_at: new Date(at + durationMs).toISOString(),
    status,
    exit_code: exitCode,
    times,
  };
}
