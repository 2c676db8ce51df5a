/** `metrics_history`: reads the metrics history. */

import * as z from "../../npm/zod.ts";
import { about, nanoseconds, target, time, wholeNumber } from "./shapes.ts";
import { verb } from "./verb.ts";

const figure = z.nullable(z.number());

/** The figures of one step. */
export const metricsPoint = z.object({
  at: about(time.clone(), "Start of the step"),
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
    z.optional(target.clone()),
    "processes, including deleted ones by name; default: the host",
  ),
  since: about(z._default(z.string(), "1h"), "from then on: `3h` ago, or an ISO 8601 time"),
  until: about(z.optional(z.string()), "up to then"),
  points: about(
    z._default(points, 120),
    "maximum points of each history; a step is at least 10 s in the last 24 h, otherwise 2 min",
  ),
});

export const METRICS_VERBS = {
  metrics_history: verb({
    help: "CPU, memory, restarts, health and uptime of processes or the host over time",
    role: "read",
    input: range,
    bare: "target",
    output: z.object({
      since: about(time.clone(), "Start of the first step"),
      until: about(time.clone(), "End of the last step, or now"),
      step: nanoseconds("Nanoseconds between points"),
      series: about(z.array(metricsSeries), "One for each process"),
    }),
    rest: [{
      method: "GET",
      path: "/metrics/history",
      query: ["target", "since", "until", "points"],
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
