/** A process as it stands on the wire: spec 2.1, snake_case. */

import { wireKeys } from "../model/config_keys.ts";
import type { Health } from "../model/health.ts";
import type { Exit, ProcessInfo, ProcessState } from "../model/process_info.ts";

/** `Exit` on the wire. */
export interface ExitJson {
  readonly code: number | null;
  readonly signal: string | null;
  readonly at: string;
}

/** `ProcessInfo` on the wire. Timestamps are ISO 8601 in UTC. */
export interface ProcessJson {
  /** First 8 characters of the UUID. */
  readonly id: string;
  readonly numeric_id: number;
  readonly name: string;
  readonly namespace: string;
  readonly instance_index: number;
  readonly runtime: string;
  readonly state: ProcessState;
  readonly pid: number;
  readonly exit_code: number;
  readonly restarts: number;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly config: Record<string, unknown>;
  readonly cpu_percent: number;
  readonly memory_bytes: number;
  readonly mem_percent: number;
  readonly threads: number;
  readonly fds: number;
  readonly tags: readonly string[];
  /** Nanoseconds. Beyond 104 days the last digits are rounded. */
  readonly uptime: number;
  readonly ready: boolean;
  readonly health: Health;
  readonly next_restart_at: string | null;
  readonly last_reason: string;
  readonly last_exit: ExitJson | null;
}

/** The wire form of a process. Values of its environment are masked. */
export function processJson(info: ProcessInfo): ProcessJson {
  return {
    id: info.id.slice(0, 8),
    numeric_id: info.numericId,
    name: info.name,
    namespace: info.namespace,
    instance_index: info.instanceIndex,
    runtime: info.runtime,
    state: info.state,
    pid: info.pid,
    exit_code: info.exitCode,
    restarts: info.restarts,
    created_at: info.createdAt.toISOString(),
    started_at: isoOrNull(info.startedAt),
    finished_at: isoOrNull(info.finishedAt),
    config: maskedConfig(info),
    cpu_percent: info.cpuPercent,
    memory_bytes: info.memBytes,
    mem_percent: info.memPercent,
    threads: info.threads,
    fds: info.fds,
    tags: info.tags,
    uptime: Math.round(info.uptimeMs * 1e6),
    ready: info.ready,
    health: info.health,
    next_restart_at: isoOrNull(info.nextRestartAt),
    last_reason: info.lastReason,
    last_exit: info.lastExit === null ? null : exitJson(info.lastExit),
  };
}

/** The wire form of an exit. */
export function exitJson(exit: Exit): ExitJson {
  return { code: exit.code, signal: exit.signal, at: exit.at.toISOString() };
}

function isoOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

function maskedConfig(info: ProcessInfo): Record<string, unknown> {
  const env = Object.fromEntries(Object.keys(info.config.env).map((key) => [key, "***"]));
  return wireKeys({ ...info.config, env });
}
