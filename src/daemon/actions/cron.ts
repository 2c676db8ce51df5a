/** `cron_list`, `cron_start`, `cron_stop` and `cron_run`: jobs, and restarts by the clock. */

import * as z from "zod/mini";
import type { CronInfo } from "../../manager/scheduler_entry.ts";
import type { CronRun } from "../../manager/scheduler_store.ts";
import type { CronJson, CronResult } from "../../protocol/actions.ts";
import type { CronRunJson } from "../../protocol/history_json.ts";
import type { ActionContext } from "./context.ts";
import { readPayload, target } from "./payload.ts";

const cronPayload = z.strictObject({ name: target });

/** Every schedule with its history; with a name also its next moments. */
export function cronList({ manager }: ActionContext, payload: unknown): CronJson[] {
  const { registry, scheduler } = manager.fleet;
  if (payload === undefined || payload === null || isEmpty(payload)) {
    return scheduler.list().map(cronJson);
  }
  const processes = registry.resolve(readName(payload));
  return scheduler.list(processes).map((info) => {
    const process = processes.find(({ name }) => name === info.name)!;
    return {
      ...cronJson(info),
      next_runs: scheduler.moments(process).map((moment) => moment.toISOString()),
    };
  });
}

/** Switches schedules on. */
export function cronStart(context: ActionContext, payload: unknown): CronResult {
  return switched(context, payload, true);
}

/** Switches schedules off; what runs goes on. */
export function cronStop(context: ActionContext, payload: unknown): CronResult {
  return switched(context, payload, false);
}

/** Runs a job, or restarts, now; answers when it has begun. */
export function cronRun({ manager }: ActionContext, payload: unknown): CronResult {
  const name = readName(payload);
  const { registry, scheduler } = manager.fleet;
  return { status: scheduler.run(registry.resolve(name)), name };
}

function switched({ manager }: ActionContext, payload: unknown, enabled: boolean): CronResult {
  const name = readName(payload);
  const { registry, scheduler } = manager.fleet;
  scheduler.enable(registry.resolve(name), enabled);
  return { status: enabled ? "started" : "stopped", name };
}

function readName(payload: unknown): string {
  const given = typeof payload === "string" ? { name: payload } : payload;
  return readPayload(cronPayload, given).name;
}

function isEmpty(payload: unknown): boolean {
  return typeof payload === "object" && Object.keys(payload!).length === 0;
}

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
    history: info.history.map(runJson),
  };
}

function runJson({ at, durationMs, status, exitCode, times }: CronRun): CronRunJson {
  return {
    started_at: new Date(at).toISOString(),
    finished_at: new Date(at + durationMs).toISOString(),
    status,
    exit_code: exitCode,
    ...(times === undefined ? {} : { times }),
  };
}
