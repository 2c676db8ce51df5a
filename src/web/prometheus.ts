/** The metrics of the daemon and its apps, and their text for Prometheus. */

import { baseName } from "../model/name.ts";
import { PROCESS_STATES } from "../model/process_info.ts";
import type {
  AlertJson,
  CronJson,
  PingJson,
  ProcessJson,
  SystemMetricsJson,
  WebhookJson,
} from "../protocol/wire.ts";
import type { Backend } from "./backend.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** A value, with the labels that identify it within its metric. */
interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A counter if its name ends with `_total`, else a gauge. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** A metric of each of several things: name, help, and value in base units; undefined for none. */
type Row<T> = readonly [string, string, (of: T) => number | undefined];

const OF_PROCESS: readonly Row<ProcessJson>[] = [
  ["up", "1 when it runs", ({ state }) => Number(state === "running")],
  ["ready", "1 when it runs and is ready", ({ ready }) => Number(ready)],
  [
    "healthy",
    "1 while its health checks succeed, 0 while they fail",
    ({ health }) => health === "unknown" ? undefined : Number(health === "healthy"),
  ],
  ["restarts_total", "Automatic restarts", ({ restarts }) => restarts],
  ["start_time_seconds", "Start of its last run", ({ started_at }) => seconds(started_at)],
  ["uptime_seconds", "Time since its start", ({ uptime }) => uptime / 1e9],
  ["cpu_usage_ratio", "Cores in use", ({ cpu_percent }) => cpu_percent / 100],
  ["resident_memory_bytes", "Memory of its whole tree", ({ memory_bytes }) => memory_bytes],
  ["threads", "Threads", ({ threads }) => threads],
  ["open_fds", "Open file descriptors", ({ fds }) => fds],
  [
    "last_exit_code",
    "Exit code of its last run that ended",
    ({ last_exit }) => last_exit?.code ?? undefined,
  ],
];

const OF_SCHEDULE: readonly Row<CronJson>[] = [
  ["enabled", "1 when its schedule is active", ({ enabled }) => Number(enabled)],
  ["running", "1 while a run is in progress", ({ running }) => Number(running)],
  ["overdue", "1 while a run is missing", ({ overdue_since }) => Number(overdue_since !== null)],
  ["next_run_timestamp_seconds", "Next run", ({ next_run }) => seconds(next_run)],
  ["last_run_timestamp_seconds", "Start of the last run", ({ last_run }) => seconds(last_run)],
  [
    "last_success_timestamp_seconds",
    "End of the last run that succeeded",
    ({ history }) => seconds(history.findLast(({ status }) => status === "ok")?.finished_at),
  ],
  [
    "last_duration_seconds",
    "Duration of the last run",
    ({ history }) => {
      const last = history.findLast(({ status }) => status !== "skipped");
      return last && (Date.parse(last.finished_at) - Date.parse(last.started_at)) / 1000;
    },
  ],
];

function seconds(time: string | null | undefined): number | undefined {
  return typeof time === "string" ? Date.parse(time) / 1000 : undefined;
}

export async function metricsText(backend: Backend): Promise<string> {
  return (await readMetrics(backend)).map(textOf).join("\n");
}

/** All metrics as they are now. */
export async function readMetrics(backend: Backend): Promise<Metric[]> {
  const processes = await backend.dispatch("list", undefined) as ProcessJson[];
  const cpu = backend.cpuSeconds();
  const cpuSeconds: Row<ProcessJson> = [
    "cpu_seconds_total",
    "CPU time of its whole tree in this run, with that of children that have ended",
    ({ id }) => cpu.get(id),
  ];
  const schedules = await backend.dispatch("cron_list", undefined) as CronJson[];
  return [
    ...metricsOf("process", [...OF_PROCESS, cpuSeconds], processes, labelsOf),
    metric(
      "procsup_processes",
      "Processes in each state",
      PROCESS_STATES.map((state) => ({
        labels: { state },
        value: processes.filter((process) => process.state === state).length,
      })),
    ),
    ...metricsOf("schedule", OF_SCHEDULE, schedules, ({ name, type }) => (
      { app: baseName(name), name, type }
    )),
    ...await alertMetrics(backend),
    ...await daemonMetrics(backend),
    ...await webhookMetrics(backend),
  ];
}

/** The metrics of several things, without those that none of them has. */
function metricsOf<T>(
  of: string,
  rows: readonly Row<T>[],
  all: readonly T[],
  labelsOf: (one: T) => Record<string, string>,
): Metric[] {
  return rows.flatMap(([name, help, value]) => {
    const samples = all.flatMap((one): Sample[] => {
      const known = value(one);
      return known === undefined ? [] : [{ labels: labelsOf(one), value: known }];
    });
    return samples.length === 0 ? [] : [metric(`procsup_${of}_${name}`, help, samples)];
  });
}

async function daemonMetrics(backend: Backend): Promise<Metric[]> {
  const { daemon } = await backend.dispatch("system_metrics", undefined) as SystemMetricsJson;
  const { version } = await backend.dispatch("ping", undefined) as PingJson;
  const one = (name: string, help: string, value: number) => metric(name, help, [{ value }]);
  return [
    one("procsup_daemon_resident_memory_bytes", "Memory of the daemon", daemon.memory_bytes),
    one("procsup_daemon_uptime_seconds", "Time since its start", daemon.uptime_seconds),
    metric(
      "procsup_releases_total",
      "Changes of apps that ended since the daemon started",
      Object.entries(daemon.releases).map(([result, value]) => ({ labels: { result }, value })),
    ),
    metric("procsup_build_info", "Always 1, labeled with the version of the daemon", [
      { labels: { version }, value: 1 },
    ]),
  ];
}

/** Empty without alerts. */
async function alertMetrics(backend: Backend): Promise<Metric[]> {
  const alerts = await backend.dispatch("alerts", undefined) as AlertJson[];
  if (alerts.length === 0) return [];
  const samples = alerts.map(({ name, when, state }) => ({
    labels: { app: baseName(name), name, when },
    value: Number(state === "firing"),
  }));
  return [metric("procsup_alert_firing", "1 while the alert fires", samples)];
}

/** Empty if no webhook is configured. */
async function webhookMetrics(backend: Backend): Promise<Metric[]> {
  const webhooks = await backend.dispatch("webhook_list", undefined) as WebhookJson[];
  if (webhooks.length === 0) return [];
  const deliveries = webhooks.flatMap(({ name: webhook, delivered, failed, dropped }) =>
    Object.entries({ delivered, failed, dropped })
      .map(([result, value]) => ({ labels: { webhook, result }, value }))
  );
  const queued = webhooks.map(({ name: webhook, queued: value }) => ({
    labels: { webhook },
    value,
  }));
  return [
    metric(
      "procsup_webhook_deliveries_total",
      "Deliveries that were delivered, failed for good, or were dropped from a full queue",
      deliveries,
    ),
    metric("procsup_webhook_queued", "Deliveries that wait to be sent, or sent again", queued),
  ];
}

function metric(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, help, samples };
}

function textOf({ name, help, samples }: Metric): string {
  const type = name.endsWith("_total") ? "counter" : "gauge";
  const lines = samples.map(({ labels = {}, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

/** Without a label `instance`, which Prometheus sets itself. */
function labelsOf({ name, namespace, id }: ProcessJson) {
  return { app: baseName(name), name, namespace, id };
}
