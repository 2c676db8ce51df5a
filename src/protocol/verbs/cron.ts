/** The verbs on schedules. */

import * as z from "../../npm/zod.ts";
import { about, onTarget, target, text, time } from "./shapes.ts";
import { type McpRow, verb } from "./verb.ts";

/** One run of a job, or one restart by the clock. */
export const cronRun = z.object({
  started_at: about(time.clone(), "When it began"),
  finished_at: about(time.clone(), "When it ended"),
  status: about(z.enum(["ok", "failed", "timeout", "skipped", "killed"]), "How it went"),
  exit_code: about(z.nullable(z.int()), "Null when it did not end by itself"),
  times: about(z.optional(z.int()), "How many in a row, where runs were skipped"),
});

/** A schedule. */
export const schedule = z.object({
  name: about(z.string(), "Of the process"),
  type: about(
    z.enum(["job", "restart"]),
    "A `job` runs on schedule; with `restart` the clock restarts a process that is kept up",
  ),
  schedule: about(z.string(), "5 or 6 fields"),
  timezone: about(z.string(), "IANA name"),
  enabled: about(z.boolean(), "Whether the clock starts runs"),
  running: about(z.boolean(), "Whether a run is in progress"),
  last_run: about(z.nullable(time), "Of the last run that was not skipped"),
  last_status: about(z.nullable(cronRun.shape.status), "How that run went"),
  last_exit_code: about(z.nullable(z.int()), "Its exit code"),
  next_run: about(z.nullable(time), "Null while it is not enabled"),
  next_runs: about(z.optional(z.array(time)), "With a name only: the next moments, enabled or not"),
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
    input: z.strictObject({ name }),
    bare: "name",
    output: done,
    rest: [{ method: "POST", path: `/cron/{id}/${word}`, answers: "CronDone" }],
    ...(mcp === undefined ? {} : { mcp }),
  });
}

/** The verbs. */
export const CRON_VERBS = {
  cron_list: verb({
    help: "All schedules, or those of a target with their next runs",
    role: "read",
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
  cron_stop: onSchedule("stop", "Disable a schedule; a run in progress goes on"),
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
