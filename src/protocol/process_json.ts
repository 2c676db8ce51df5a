/** Processes, their events, and messages about the daemon on the wire (snake_case). */

import type { ReleaseInfo } from "../model/app.ts";
import { wireKeys } from "../model/key_spelling.ts";
import { masked } from "../model/secret_values.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { exitJson, type ProcessChange, type ProcessInfo } from "../model/process_info.ts";
import type { ExitJson, ProcessJson, ReleaseJson } from "./wire.ts";

/** Fields that change all the time; a change in only these is not a change of the process. */
export const USAGE_FIELDS = [
  "cpu_percent",
  "memory_bytes",
  "mem_percent",
  "threads",
  "fds",
  "uptime",
] as const satisfies (keyof ProcessJson)[];

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
    ...(info.logProblem !== undefined && { log_problem: info.logProblem }),
    ...(info.statusText !== undefined && { status_text: info.statusText }),
    last_exit: info.lastExit === null ? null : exitJson(info.lastExit),
  };
}

export function releaseJson(
  { changed, begunAt, endedAt, failure, ...release }: ReleaseInfo,
): ReleaseJson {
  return {
    ...release,
    changed: [...changed],
    begun_at: begunAt.toISOString(),
    ended_at: isoOrNull(endedAt),
    ...failure !== undefined && {
      failure: {
        instance: failure.instance,
        reason: failure.reason,
        last_output: [...failure.lastLines],
      },
    },
  };
}

function isoOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

/** Cache by configuration. A configuration never changes, and makes up most of a list. */
const shown = new WeakMap<ProcessConfig, Readonly<Record<string, unknown>>>();

function maskedConfig(config: ProcessConfig): Readonly<Record<string, unknown>> {
  const known = shown.get(config);
  if (known !== undefined) return known;
  const wire = masked(wireKeys(config));
  shown.set(config, wire);
  return wire;
}

/** `ProcessChange` on the wire: an item of `/events`, and of the WebSocket's `event` messages. */
export interface ChangeJson extends Omit<ProcessChange, "at" | "exit"> {
  /** ISO 8601. */
  readonly at: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** How the last run ended, at any event; null before the first end. */
  readonly exit: ExitJson | null;
}

/** An item of a terminal stream. */
export type TerminalPiece = {
  readonly text: string;
  /** Position at which the next piece begins. */
  readonly position: number;
  /** Pid of the app; 0 while it does not run. */
  readonly pid: number;
} | {
  /** Reason why the app ended. */
  readonly ended: string;
  readonly code: number | null;
};

/** Last item of an endless stream, unless the daemon was killed or restarted. */
export type ShutdownNoticeJson = {
  /** Another version of the daemon takes over. It adopts the apps within a second. */
  readonly type: "upgrading";
  /** ISO 8601. */
  readonly at: string;
  /** Versions of the current daemon and of the next one. */
  readonly from: string;
  readonly to: string;
} | {
  /** The daemon is shut down together with the apps. */
  readonly type: "shutdown";
  /** ISO 8601. */
  readonly at: string;
};

export function changeJson({ type, at, id, exit, ...rest }: ProcessChange): ChangeJson {
  return {
    type,
    at: at.toISOString(),
    id: id.slice(0, 8),
    ...rest,
    exit: exit === null ? null : exitJson(exit),
  };
}

/** Converts the wanted changes. */
export function changesOf(
  changes: ReadableStream<ProcessChange>,
  isWanted: (change: ProcessChange) => boolean,
): ReadableStream<ChangeJson> {
  return changes.pipeThrough(
    new TransformStream<ProcessChange, ChangeJson>({
      transform: (change, out) => {
        if (isWanted(change)) out.enqueue(changeJson(change));
      },
    }),
  );
}
