/** A process as it stands on the wire: spec 2.1, snake_case. */

import { wireKeys } from "../model/key_spelling.ts";
import { masked } from "../model/masks.ts";
import type { Health } from "../model/health.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Exit, ProcessInfo, ProcessState } from "../model/process_info.ts";

/** `Exit` on the wire. */
export interface ExitJson {
  /** Null when it is not known. */
  readonly code: number | null;
  /** The signal that ended it. */
  readonly signal: string | null;
  /** When. */
  readonly at: string;
}

/** `ProcessInfo` on the wire. Timestamps are ISO 8601 in UTC. */
export interface ProcessJson {
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Sequential number. */
  readonly numeric_id: number;
  /** Unique name. */
  readonly name: string;
  /** Group. */
  readonly namespace: string;
  /** 0 for the first. */
  readonly instance_index: number;
  /** What runs it; `auto` for a plain program. */
  readonly runtime: string;
  /** Where it is in its life. */
  readonly state: ProcessState;
  /** Process id, 0 while nothing runs. */
  readonly pid: number;
  /** Last exit code; 0 also when it never ended. */
  readonly exit_code: number;
  /** Automatic restarts: after a crash or, under `always`, a success; for liveness, memory and age. */
  readonly restarts: number;
  /** When it was added. */
  readonly created_at: string;
  /** When its last run began. */
  readonly started_at: string | null;
  /** When its last run ended. */
  readonly finished_at: string | null;
  /** Its configuration in wire form; masked values are `***`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Percent of one core. */
  readonly cpu_percent: number;
  /** Resident memory of the whole tree. */
  readonly memory_bytes: number;
  /** The same in percent of the machine's. */
  readonly mem_percent: number;
  /** Threads of the whole tree. */
  readonly threads: number;
  /** Open file descriptors. */
  readonly fds: number;
  /** Words of its configuration. */
  readonly tags: readonly string[];
  /** Nanoseconds. Beyond 104 days the last digits are rounded. */
  readonly uptime: number;
  /** Whether it runs and is ready. */
  readonly ready: boolean;
  /** What its health checks say. */
  readonly health: Health;
  /** When the next automatic restart is due. */
  readonly next_restart_at: string | null;
  /** Why it is in this state, in words. */
  readonly last_reason: string;
  /** How its last run ended. */
  readonly last_exit: ExitJson | null;
}

/** The wire form of a process. Masked values are `***`. */
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
    config: maskedConfig(info.config),
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

/** Wire forms by configuration: it never changes, and a list consists mostly of configurations. */
const shown = new WeakMap<ProcessConfig, Readonly<Record<string, unknown>>>();

function maskedConfig(config: ProcessConfig): Readonly<Record<string, unknown>> {
  const known = shown.get(config);
  if (known !== undefined) return known;
  const wire = masked(wireKeys(config));
  shown.set(config, wire);
  return wire;
}
