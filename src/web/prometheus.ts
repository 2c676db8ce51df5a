/** Metrics in the text format of Prometheus. */

import { PROCESS_STATES } from "../model/process_info.ts";
import type { PingJson, ProcessJson, SystemMetricsJson, WebhookJson } from "../protocol/wire.ts";
import type { Backend } from "./backend.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** A value, with the labels that identify it within its metric. */
interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Metrics of each process: name, help, and value in base units. */
const OF_PROCESS: readonly (readonly [string, string, (process: ProcessJson) => number])[] = [
  ["up", "1 when it runs", ({ state }) => Number(state === "running")],
  ["ready", "1 when it runs and is ready", ({ ready }) => Number(ready)],
  ["healthy", "1 unless its health checks fail", ({ health }) => Number(health !== "unhealthy")],
  ["restarts_total", "Automatic restarts", ({ restarts }) => restarts],
  ["uptime_seconds", "Time since its start", ({ uptime }) => uptime / 1e9],
  ["cpu_usage_ratio", "Cores in use", ({ cpu_percent }) => cpu_percent / 100],
  ["resident_memory_bytes", "Memory of its whole tree", ({ memory_bytes }) => memory_bytes],
  ["threads", "Threads", ({ threads }) => threads],
  ["open_fds", "Open file descriptors", ({ fds }) => fds],
  ["last_exit_code", "Exit code of its last run", ({ exit_code }) => exit_code],
];

export async function metricsText(backend: Backend): Promise<string> {
  const processes = await backend.dispatch("list", undefined) as ProcessJson[];
  return [
    ...OF_PROCESS.map(([name, help, value]) =>
      metric(
        `procsup_process_${name}`,
        help,
        processes.map((process) => ({ labels: labelsOf(process), value: value(process) })),
      )
    ),
    metric(
      "procsup_processes",
      "Processes in each state",
      PROCESS_STATES.map((state) => ({
        labels: { state },
        value: processes.filter((process) => process.state === state).length,
      })),
    ),
    ...await daemonMetrics(backend),
    ...await webhookMetrics(backend),
  ].join("\n");
}

async function daemonMetrics(backend: Backend): Promise<string[]> {
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

/** Empty if no webhook is configured. */
async function webhookMetrics(backend: Backend): Promise<string[]> {
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

/** One metric. It is a counter if its name ends with `_total`. */
function metric(name: string, help: string, samples: readonly Sample[]): string {
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

function labelsOf({ name, namespace, id, instance_index }: ProcessJson) {
  return { name, namespace, id, instance: String(instance_index) };
}
