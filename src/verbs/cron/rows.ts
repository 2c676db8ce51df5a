/** The verbs on schedules. */

import * as z from "zod/mini";
import { about, onTarget, target, text, time } from "../shapes.ts";
import { type McpRow, verb } from "../verb.ts";

/** One run of a cron job, or one restart by cron. */
export const cronRun = z.object({
  started_at: about(time.clone(), "When it began"),
  finished_at: about(time.clone(), "When it ended"),
  status: about(z.enum(["ok", "failed", "timeout", "skipped", "killed"]), "Result"),
  exit_code: about(z.nullable(z.int()), "Null if it did not exit by itself"),
  times: about(z.optional(z.int()), "Number of consecutive skipped runs"),
});

export const schedule = z.object({
  name: about(z.string(), "Name of the process"),
  type: about(
    z.enum(["job", "restart"]),
    "A `job` runs on schedule; a `restart` restarts a running process on schedule",
  ),
  schedule: about(z.string(), "5 or 6 fields"),
  timezone: about(z.string(), "IANA name"),
  enabled: about(z.boolean(), "Whether the schedule is active"),
  running: about(z.boolean(), "Whether a run is in progress"),
  last_run: about(z.nullable(time), "Start of the last run that was not skipped"),
  last_status: about(z.nullable(cronRun.shape.status), "Result of that run"),
  last_exit_code: about(z.nullable(z.int()), "Exit code of that run"),
  next_run: about(z.nullable(time), "Null while the schedule is disabled"),
  overdue_since: about(z.nullable(time), "The due time since which a run is missing; null if none"),
  next_runs: about(z.optional(z.array(time)), "Only with a name: the next times, enabled or not"),
  history: about(z.array(cronRun), "The last runs, the newest last"),
});

const done = z.object({
  status: about(
    z.enum(["started", "stopped", "running", "queued"]),
    "What was done; `queued` runs after the current run",
  ),
  name: about(z.string(), "The target"),
});

const name = about(text.clone(), "a target: name, id, ns:…, tag:…");

function onSchedule(word: "start" | "stop" | "run", help: string, mcp?: McpRow) {
  return verb({
    help,
    role: "operate",
    reach: "name",
    input: z.strictObject({ name }),
    bare: "name",
    output: done,
    rest: [{ method: "POST", path: `/cron/{id}/${word}`, answers: "CronDone" }],
    mcp,
  });
}

export const CRON_VERBS = {
  cron_list: verb({
    help: "All schedules, or those of a target with their next runs",
    role: "read",
    reach: "name",
    input: z.strictObject({ name: z.optional(name) }),
    bare: "name",
    output: z.array(schedule),
    rest: [{ method: "GET", path: "/cron", query: ["name"], answers: "CronList" }],
    mcp: {
      tool: "list_jobs",
      toolset: "jobs",
      title: "List jobs",
      description: "List the schedules with their last and next runs; with a target also the " +
        "runs before, and those to come.",
      input: z.strictObject({ target: z.optional(target) }),
      idempotent: true,
    },
  }),
  cron_start: onSchedule("start", "Enable a schedule"),
  cron_stop: onSchedule("stop", "Disable a schedule; a current run continues"),
  cron_run: onSchedule("run", "Run a job now", {
    tool: "run_job",
    toolset: "jobs",
    title: "Run job",
    description: "Run a job now; answers when the run has begun. wait_for with `exit` waits for " +
      "its end.",
    input: onTarget,
    openWorld: true,
  }),
};
