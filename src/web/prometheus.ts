/** The processes and the daemon as Prometheus reads them. */

import { Gauge, Registry } from "prom-client";
import type { PingJson } from "../protocol/actions.ts";
import type { ProcessJson } from "../protocol/process_json.ts";
import type { WebhookJson } from "../protocol/webhook_json.ts";
import type { Backend } from "./backend.ts";

/** Media type of the text. */
export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

const LABELS = ["name", "namespace", "id", "instance"] as const;
const STATES = ["starting", "running", "stopping", "stopped", "crashed", "errored", "waiting"];

/** Of each process: metric, what it says, and its value in base units. */
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

interface SystemJson {
  readonly daemon: { readonly memory_bytes: number; readonly uptime_seconds: number };
}

/** The text of all metrics now. */
export async function metricsText(backend: Backend): Promise<string> {
  const processes = await backend.dispatch("list", undefined) as ProcessJson[];
  const registers = [new Registry()];
  for (const [name, help, value] of OF_PROCESS) {
    const gauge = new Gauge({
      name: `procsup_process_${name}`,
      help,
      labelNames: LABELS,
      registers,
    });
    for (const process of processes) gauge.set(labelsOf(process), value(process));
  }
  const states = new Gauge({
    name: "procsup_processes",
    help: "Processes in each state",
    labelNames: ["state"],
    registers,
  });
  for (const state of STATES) {
    states.set({ state }, processes.filter((process) => process.state === state).length);
  }
  await addDaemon(backend, registers);
  await addWebhooks(backend, registers);
  const text = await registers[0]!.metrics();
  // The library counts for itself; these are counted elsewhere, which its counters do not take.
  return text.replace(/^(# TYPE \S+_total) gauge$/gm, "$1 counter");
}

async function addDaemon(backend: Backend, registers: Registry[]): Promise<void> {
  const { daemon } = await backend.dispatch("system_metrics", undefined) as SystemJson;
  const { version } = await backend.dispatch("ping", undefined) as PingJson;
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  gauge("procsup_daemon_resident_memory_bytes", "Memory of the daemon").set(daemon.memory_bytes);
  gauge("procsup_daemon_uptime_seconds", "Time since its start").set(daemon.uptime_seconds);
  new Gauge({
    name: "procsup_build_info",
    help: "1, with the version of the daemon",
    labelNames: ["version"],
    registers,
  }).set({ version }, 1);
}

/** Nothing where none is configured. */
async function addWebhooks(backend: Backend, registers: Registry[]): Promise<void> {
  if (!backend.actions.has("webhook_list")) return;
  const webhooks = await backend.dispatch("webhook_list", undefined) as WebhookJson[];
  if (webhooks.length === 0) return;
  const deliveries = new Gauge({
    name: "procsup_webhook_deliveries_total",
    help: "Deliveries that came through, were given up, or had to make room",
    labelNames: ["webhook", "result"],
    registers,
  });
  const queued = new Gauge({
    name: "procsup_webhook_queued",
    help: "Deliveries that wait for their turn, or for another attempt",
    labelNames: ["webhook"],
    registers,
  });
  for (const { name: webhook, delivered, failed, dropped, queued: waiting } of webhooks) {
    for (const [result, value] of Object.entries({ delivered, failed, dropped })) {
      deliveries.set({ webhook, result }, value);
    }
    queued.set({ webhook }, waiting);
  }
}

function labelsOf({ name, namespace, id, instance_index }: ProcessJson) {
  return { name, namespace, id, instance: String(instance_index) };
}
