/** The schemas of the OpenAPI document: what the routes take and answer. */

import * as z from "zod/mini";
import { tableJson } from "../model/key_json_schema.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { PROCESS_STATES } from "../model/process_info.ts";
import { WEBHOOK_EVENTS } from "../model/webhook.ts";

const time = z.iso.datetime();

const exit = z.object({ code: z.nullable(z.int()), signal: z.nullable(z.string()), at: time });

const processInfo = z.object({
  id: z.string(),
  numeric_id: z.int(),
  name: z.string(),
  namespace: z.string(),
  instance_index: z.int(),
  runtime: z.string(),
  state: z.enum(PROCESS_STATES),
  pid: z.int(),
  exit_code: z.int(),
  restarts: z.int().check(
    z.meta({ description: "Automatic restarts, those after a success included" }),
  ),
  created_at: time,
  started_at: z.nullable(time),
  finished_at: z.nullable(time),
  config: z.record(z.string(), z.unknown()),
  cpu_percent: z.number(),
  memory_bytes: z.int(),
  mem_percent: z.number(),
  threads: z.int(),
  fds: z.int(),
  tags: z.array(z.string()),
  uptime: z.int().check(z.meta({ description: "Nanoseconds" })),
  ready: z.boolean(),
  health: z.enum(["unknown", "healthy", "unhealthy"]),
  next_restart_at: z.nullable(time),
  last_reason: z.string(),
  last_exit: z.nullable(exit),
});

const result = z.object({
  name: z.string(),
  id: z.string(),
  ok: z.boolean(),
  state: z.enum(PROCESS_STATES),
  pid: z.int(),
  error: z.optional(z.string()),
  code: z.optional(z.string()),
  last_stderr: z.optional(z.array(z.string())),
  hint: z.optional(z.string()),
});

const bulkResult = z.object({ status: z.string(), results: z.array(result) });

const fieldChange = z.object({
  field: z.string(),
  from: z.optional(z.unknown()),
  to: z.optional(z.unknown()),
});

const schedule = z.object({
  name: z.string(),
  type: z.enum(["job", "restart"]),
  schedule: z.string(),
  timezone: z.string(),
  enabled: z.boolean(),
  running: z.boolean(),
  last_run: z.nullable(time),
  last_status: z.nullable(z.string()),
  last_exit_code: z.nullable(z.int()),
  next_run: z.nullable(time),
  next_runs: z.optional(z.array(time)),
  history: z.array(z.object({
    started_at: time,
    finished_at: time,
    status: z.enum(["ok", "failed", "timeout", "skipped", "killed"]),
    exit_code: z.nullable(z.int()),
    times: z.optional(z.int()),
  })),
});

const attempt = z.object({
  at: time,
  ok: z.boolean(),
  status: z.nullable(z.int()).check(
    z.meta({ description: "Of HTTP; null when there was no answer" }),
  ),
  error: z.string(),
});

const webhook = z.object({
  name: z.string(),
  url: z.string().check(
    z.meta({ description: "What of it is no secret: https://hooks.example.com/…" }),
  ),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  only: z.array(z.string()).check(
    z.meta({ description: "Targets, of which a process matches one" }),
  ),
  signed: z.boolean(),
  queued: z.int(),
  delivered: z.int(),
  failed: z.int(),
  dropped: z.int(),
  last: z.nullable(attempt),
});

const webhookTest = z.extend(attempt, { name: z.string() });

function status(word?: string) {
  return z.object({
    status: word === undefined ? z.string() : z.literal(word),
    results: z.optional(z.array(result)).check(
      z.meta({ description: "When it did not work for all" }),
    ),
  });
}

const number = z.number();

/** Of answers. */
const ANSWERS: Readonly<Record<string, z.ZodMiniType>> = {
  ProcessInfo: processInfo,
  ProcessList: z.array(processInfo),
  Stopped: status("stopped"),
  Restarted: status("restarted"),
  Reloaded: status("reloaded"),
  Deleted: status("deleted"),
  Status: status(),
  BulkResult: bulkResult,
  RollingResult: z.extend(bulkResult, { rolled_back: z.boolean() }),
  Reconfigured: z.extend(bulkResult, {
    status: z.enum(["unchanged", "changed", "reloaded"]),
    rolled_back: z.boolean(),
    restarted: z.boolean().check(z.meta({ description: "Whether what runs was replaced" })),
    changes: z.array(fieldChange),
  }),
  Logs: z.object({ logs: z.string(), path: z.string(), lines: z.string() }),
  Why: z.object({
    process: processInfo,
    reasons: z.array(z.string()),
    last_stderr: z.array(z.string()),
    hints: z.array(z.string()),
  }),
  History: z.object({
    name: z.string(),
    id: z.string(),
    hooks: z.array(z.object({
      at: time,
      hook: z.string(),
      ok: z.boolean(),
      exit_code: z.nullable(z.int()),
      timed_out: z.boolean(),
      duration: z.int().check(z.meta({ description: "Nanoseconds" })),
      output: z.string(),
    })),
    health: z.array(z.object({
      at: time,
      ok: z.boolean(),
      message: z.string(),
      latency: z.int().check(z.meta({ description: "Nanoseconds" })),
    })),
  }),
  CronList: z.array(schedule),
  WebhookList: z.array(webhook),
  WebhookTest: webhookTest,
  WebhookTests: z.array(webhookTest),
  Saved: z.object({ status: z.literal("saved"), count: z.int() }),
  Resurrected: z.object({
    status: z.literal("resurrected"),
    count: z.int(),
    errors: z.array(z.string()),
  }),
  SystemMetrics: z.object({
    ...Object.fromEntries(
      [
        ...["total_memory", "used_memory", "free_memory", "available_memory"],
        ...["swap_total", "swap_used", "cpu_count", "cpu_percent"],
        ...["cpu_load_1", "cpu_load_5", "cpu_load_15", "uptime_seconds", "process_count"],
      ].map((name) => [name, number]),
    ),
    hostname: z.string(),
    platform: z.string(),
    arch: z.string(),
    daemon: z.object({
      pid: z.int(),
      version: z.string(),
      memory_bytes: z.int(),
      uptime_seconds: z.int(),
      restarts_last_hour: z.int().check(z.meta({
        description: "Automatic restarts of processes, as far as this daemon was there",
      })),
    }),
  }),
  Ports: z.array(z.object({
    name: z.string(),
    id: z.string(),
    ports: z.array(z.object({ port: z.int(), address: z.string() })),
  })),
  SystemInfo: z.object({
    home: z.string(),
    socket: z.string(),
    saved_at: z.nullable(time),
    disk_total: z.int(),
    disk_available: z.int(),
  }),
  ConfigResult: z.object({
    status: z.enum(["reloaded", "planned", "failed"]),
    ...Object.fromEntries(
      ["added", "changed", "removed", "kept", "unchanged", "errors"].map((key) =>
        [key, z.array(z.string())] as const
      ),
    ),
    changes: z.array(z.object({
      name: z.string(),
      restart: z.boolean(),
      rolling: z.boolean(),
      fields: z.array(fieldChange),
    })),
    settings: z.array(z.object({
      name: z.string(),
      change: z.enum(["added", "changed", "unchanged", "removed", "kept"]),
      fields: z.array(z.record(z.string(), z.unknown())),
    })),
    results: z.array(result),
  }),
  Any: z.unknown(),
  Error: z.object({
    error: z.string(),
    code: z.string(),
    hint: z.optional(z.string()),
    field: z.optional(z.string()).check(z.meta({
      description: "The key of the configuration that is wrong: health_check.url",
    })),
    near: z.optional(z.string()).check(
      z.meta({ description: "Of process_not_found: a name like it" }),
    ),
    matches: z.optional(z.array(z.string())).check(z.meta({ description: "Of ambiguous_target" })),
    name: z.optional(z.string()).check(z.meta({ description: "Of start_failed, as the next two" })),
    state: z.optional(z.enum(PROCESS_STATES)),
    last_stderr: z.optional(z.array(z.string())),
  }),
};

/** Of bodies. */
const BODIES: Readonly<Record<string, z.ZodMiniType>> = {
  RollingReload: z.object({
    batch_size: z.optional(z.union([z.int(), z.string()])),
    wait_ready: z.optional(z.boolean()),
    rollback_on_failure: z.optional(z.boolean()),
  }),
  Scale: z.object({ instances: z.union([z.int(), z.string()]) }),
  Signal: z.object({ signal: z.union([z.string(), z.int()]) }),
  ConfigReload: z.object({
    config_path: z.optional(z.union([z.string(), z.array(z.string())])),
    content: z.optional(z.object({ file: z.string(), text: z.string() })).check(z.meta({
      description: "What the file would hold, instead of what is on the disk",
    })),
    dry_run: z.optional(z.boolean()),
    prune: z.optional(z.boolean()),
    wait: z.optional(z.boolean()),
  }),
};

/** Every schema by its name. */
export function documentSchemas(): Record<string, unknown> {
  return {
    ...schemasOf(ANSWERS, "output"),
    ...schemasOf(BODIES, "input"),
    ProcessConfig: tableJson(PROCESS_KEYS),
    ProcessConfigPatch: tableJson(PROCESS_KEYS, { partial: true }),
  };
}

function schemasOf(
  schemas: Readonly<Record<string, z.ZodMiniType>>,
  io: "input" | "output",
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
      return [name, json];
    }),
  );
}
