/**
 * The verbs that look at processes: `list`, `status`, `why`, `history`, `releases`, `wait`, `events` and
 * `metrics_history`.
 */

import { RELEASE_RESULTS } from "../../model/app.ts";
import {
  CHANGE_TYPES,
  END_CAUSES,
  type EndCause,
  PROCESS_STATES,
  WAIT_POINTS,
} from "../../model/process_info.ts";
import * as z from "zod/mini";
import {
  about,
  duration,
  exit,
  flag,
  hint,
  lineCount,
  nanoseconds,
  nothing,
  onTarget,
  processInfo,
  target,
  targets,
  time,
  wholeNumber,
} from "../shapes.ts";
import { verb } from "../verb.ts";

const changeEvent = z.object({
  type: about(
    z.enum(CHANGE_TYPES),
    "A state that was entered, or `added`, `deleted`, `healthy`, …",
  ),
  at: time,
  id: about(z.string(), "First 8 characters of the UUID"),
  name: about(z.string(), "Name of the process; `.host` for an alert of the host"),
  state: about(z.enum(PROCESS_STATES), "State after the event"),
  pid: about(z.int(), "0 while nothing runs"),
  restarts: about(z.int(), "Automatic restarts so far"),
  reason: about(z.string(), "Reason"),
  exit: about(z.nullable(exit), "How the last run ended, at any event; null before the first end"),
  cause: about(
    z.optional(z.enum(Object.keys(END_CAUSES) as [EndCause, ...EndCause[]])),
    "Why the last run ended; only of the first event after its end",
  ),
  by: about(
    z.optional(z.string()),
    "Who asked, for `asked`: `owner`, a token as `token ci`, or `agent NAME (token ci)`",
  ),
  alert: about(z.optional(z.string()), "The condition of an `alert` or `alert_resolved`"),
});

export const hookRun = z.object({
  at: about(time.clone(), "When it began"),
  hook: about(z.string(), "`pre_start` … `post_healthcheck`"),
  ok: about(z.boolean(), "Whether its exit code was 0"),
  exit_code: about(z.nullable(z.int()), "Null if it was killed, or could not be run"),
  timed_out: about(z.boolean(), "Whether it was killed at its timeout"),
  duration: nanoseconds("Nanoseconds"),
  output: about(z.string(), "End of its output, up to 2 KiB"),
});

export const healthCheck = z.object({
  at: about(time.clone(), "When it began"),
  ok: about(z.boolean(), "Whether it succeeded"),
  message: about(z.string(), "What was wrong; empty on success"),
  latency: nanoseconds("Nanoseconds"),
});

/** One change of an app. */
export const release = z.object({
  app: about(z.string(), "Name of the app"),
  generation: about(z.int(), "Number of the configuration that it makes"),
  undoes: about(z.optional(z.int()), "The generation that failed, if this is its rollback"),
  by: about(z.string(), "Who asked"),
  changed: about(z.array(z.string()), "Keys that changed; empty for the same configuration"),
  begun_at: about(time.clone(), "When it began"),
  ended_at: about(z.nullable(time.clone()), "When it ended; null while it is under way"),
  result: about(z.nullable(z.enum(RELEASE_RESULTS)), "How it ended; null while it is under way"),
  failure: about(
    z.optional(z.object({
      instance: about(z.string(), "The first instance that did not come up"),
      reason: about(z.string(), "Reason"),
      last_output: about(z.array(z.string()), "Last lines of the failed run; untrusted"),
    })),
    "Why it failed, if an instance did not come up",
  ),
});

const journal = z.strictObject({
  target: about(z.optional(target), "Default: all. May name an app that was deleted."),
  since: about(z.optional(z.string()), "from then on: `10m` ago, or an ISO 8601 time"),
  until: about(z.optional(z.string()), "up to then"),
  type: about(z.optional(z.enum(CHANGE_TYPES)), "Only events of this type"),
  search: about(z.optional(z.string()), "Words that occur in the name, the type or the reason"),
  limit: about(z._default(lineCount, 100), "How many of the last events, 0 for all"),
  before: about(
    z.optional(z.string().check(z.regex(/^\d+-\d+\.\d+$/, "expected `next` of an answer"))),
    "Continue with older events: `next` of the previous answer",
  ),
});

const waiting = z.strictObject({
  target,
  for: about(z._default(z.enum(WAIT_POINTS), "ready"), "exit: stopped, for whatever reason"),
  timeout: about(z.optional(duration), "fail with 504 after this; default: wait forever"),
});

const figure = z.nullable(z.number());

/** The figures of a step. */
const FIGURES = {
  cpu_percent: about(figure.clone(), "Mean percent of one core; for the host, of all cores"),
  cpu_percent_max: about(figure.clone(), "Highest"),
  memory_bytes: about(
    figure.clone(),
    "Mean resident memory of the process tree; for the host, used memory",
  ),
  memory_bytes_max: about(figure.clone(), "Highest"),
  threads: about(figure.clone(), "Mean"),
  fds: about(figure.clone(), "Mean number of open file descriptors"),
  load: about(figure.clone(), "Load average of one minute; only for the host"),
  restarts: about(z.int(), "Automatic restarts up to the end of the step"),
  uptime: nanoseconds("Nanoseconds, at the end of the step"),
  up: about(z.number(), "Share of the step in which it ran, from 0 to 1"),
  healthy: about(
    figure.clone(),
    "Share of the checked time in which it was healthy, from 0 to 1; null without checks",
  ),
};

const FIGURE_NAMES = Object.keys(FIGURES) as [keyof typeof FIGURES, ...(keyof typeof FIGURES)[]];

/** One step, with all figures or those that were asked for. */
export const metricsPoint = z.object({
  at: about(time.clone(), "Start of the step"),
  ...z.partial(z.object(FIGURES)).shape,
});

/** The history of one process or of the host. */
export const metricsSeries = z.object({
  name: about(
    z.nullable(z.string()),
    "Name of the process, which may be deleted; null for the host",
  ),
  points: about(
    z.array(metricsPoint),
    "The oldest first. Steps without a measurement are left out; unknown figures are null",
  ),
});

const points = wholeNumber(1, 10_000);

const range = z.strictObject({
  target: about(
    z.optional(targets.clone()),
    "processes, including deleted ones by name; default: the host",
  ),
  since: about(z._default(z.string(), "1h"), "from then on: `3h` ago, or an ISO 8601 time"),
  until: about(z.optional(z.string()), "up to then"),
  points: about(
    z._default(points, 120),
    "maximum points of each history; a step is at least 10 s in the last 24 h, otherwise 2 min",
  ),
  fields: about(
    z.optional(z.array(z.enum(FIGURE_NAMES)).check(z.minLength(1))),
    "only these figures of each point; default: all",
  ),
});

export const INSPECT_VERBS = {
  list: verb({
    help: "All processes",
    role: "read",
    reach: "apps",
    input: nothing,
    output: z.array(processInfo),
    rest: [{ method: "GET", path: "/processes", answers: "ProcessList" }],
    mcp: {
      tool: "list_apps",
      title: "List apps",
      description: "List the supervised apps, or those that a target names: state and usage.",
      input: z.strictObject({
        target: z.optional(target),
        detail: about(
          z.optional(flag),
          "Include all fields, and configuration that differs from the defaults",
        ),
      }),
      idempotent: true,
    },
  }),
  status: verb({
    help: "One process",
    role: "read",
    reach: "target",
    input: onTarget,
    bare: "target",
    output: processInfo,
    rest: [{ method: "GET", path: "/processes/{id}", answers: "ProcessInfo" }],
    mcp: {
      tool: "get_status",
      title: "Get status",
      description: "Show everything about apps: state and why, last output, what to do next, " +
        "usage, restarts, last exit, whole configuration.",
      input: onTarget,
      idempotent: true,
    },
  }),
  why: verb({
    help: "Explain the state of a process",
    role: "read",
    reach: "target",
    input: onTarget,
    bare: "target",
    output: z.object({
      process: processInfo,
      reasons: about(z.array(z.string()), "Sentences, the most important first"),
      error_line: about(
        z.optional(z.string()),
        "The line of output that says what went wrong, if any; untrusted",
      ),
      last_output: about(
        z.array(z.string()),
        "Last lines of stderr, or of stdout if those say more; untrusted",
      ),
      last_release: about(
        z.optional(release),
        "The last change of its app, if any is on record; not its rollback",
      ),
      hints: about(z.array(hint), "What may help"),
    }),
    rest: [{ method: "GET", path: "/processes/{id}/why", answers: "Why" }],
  }),
  history: verb({
    help: "The last runs of the hooks and health checks of a process",
    role: "read",
    reach: "target",
    input: onTarget,
    bare: "target",
    /** The newest last, since the start of the daemon. */
    output: z.object({
      name: about(z.string(), "Name of the process"),
      id: about(z.string(), "First 8 characters of the UUID"),
      hooks: about(z.array(hookRun), "Runs of its hooks"),
      health: about(z.array(healthCheck), "Its health checks"),
    }),
    rest: [{ method: "GET", path: "/processes/{id}/history", answers: "History" }],
  }),
  releases: verb({
    help: "The changes of an app on record, the newest last",
    role: "read",
    reach: "target",
    input: onTarget,
    bare: "target",
    output: z.array(release),
    rest: [{ method: "GET", path: "/processes/{id}/releases", answers: "ReleaseList" }],
    mcp: {
      tool: "list_releases",
      toolset: "diagnose",
      title: "List releases",
      description: "List the last changes of apps: what changed, who asked, and how each ended.",
      input: onTarget,
      idempotent: true,
    },
  }),
  wait: verb({
    help: "Wait until processes reach a state",
    role: "read",
    waits: true,
    reach: "target",
    input: waiting,
    bare: "target",
    output: z.array(processInfo),
    rest: [{
      method: "GET",
      path: "/processes/{id}/wait",
      query: ["for", "timeout"],
      answers: "ProcessList",
    }],
    mcp: {
      tool: "wait_for",
      toolset: "jobs",
      title: "Wait for",
      description: "Wait until apps reach a state, such as the end of a job.",
      input: z.extend(waiting, { timeout: z._default(duration, "50s") }),
      idempotent: true,
    },
  }),
  events: verb({
    help: "Past events of processes, the newest last",
    role: "read",
    reach: "target",
    knowsDeleted: true,
    input: journal,
    bare: "target",
    output: z.object({
      events: z.array(changeEvent),
      truncated: about(z.boolean(), "Whether there were more"),
      next: about(z.optional(z.string()), "`before` of the next, older events; absent at the end"),
    }),
    rest: [{
      method: "GET",
      path: "/events/history",
      query: ["target", "since", "until", "type", "search", "limit", "before"],
      answers: "EventHistory",
    }],
    mcp: {
      tool: "get_events",
      toolset: "diagnose",
      title: "Get events",
      description: "List past events of apps: starts, stops, crashes, failed health checks.",
      input: z.omit(journal, { search: true, before: true }),
      idempotent: true,
    },
  }),
  metrics_history: verb({
    help: "CPU, memory, restarts, health and uptime of processes or the host over time",
    role: "read",
    reach: "target or host",
    knowsDeleted: true,
    input: range,
    bare: "target",
    output: z.object({
      since: about(time.clone(), "Start of the first step"),
      until: about(time.clone(), "End of the last step, or now"),
      step: nanoseconds("Nanoseconds between points"),
      series: about(z.array(metricsSeries), "One for each process"),
      gaps: about(
        z.optional(z.array(z.object({ from: time.clone(), to: time.clone() }))),
        "Only of the host: when no daemon ran, for 20 s or longer",
      ),
    }),
    rest: [{
      method: "GET",
      path: "/metrics/history",
      query: ["target", "since", "until", "points", "fields"],
      answers: "MetricsHistory",
    }],
    mcp: {
      tool: "get_metrics",
      toolset: "diagnose",
      title: "Get metrics",
      description: "Show CPU and memory of apps, or of the machine, over time.",
      input: z.extend(range, {
        points: about(z._default(points, 12), "Maximum number of points of each"),
      }),
      idempotent: true,
    },
  }),
};
