/** The read-only view of a process that every surface shows, and its events. */

import type { Health } from "./health.ts";
import type { ProcessConfig } from "./process_config.ts";

/** State of a process. */
export type ProcessState =
  | "starting"
  | "running"
  | "stopping"
  | "stopped"
  | "crashed"
  | "errored"
  | "waiting";

/** All states. */
export const PROCESS_STATES = [
  "starting",
  "running",
  "stopping",
  "stopped",
  "crashed",
  "errored",
  "waiting",
] as const satisfies readonly ProcessState[];

/** A state as people look at it: an app that runs and whose health checks fail is not simply running. */
export type Condition = ProcessState | "unhealthy";

export function conditionOf(
  { state, health }: { readonly state: ProcessState; readonly health: Health },
): Condition {
  return state === "running" && health === "unhealthy" ? health : state;
}

/** All conditions, those that need attention first. */
export const CONDITIONS_BY_URGENCY: readonly Condition[] = [
  "errored",
  "crashed",
  "unhealthy",
  "waiting",
  "starting",
  "stopping",
  "running",
  "stopped",
];

/** A state to wait for. `exit` means stopped, crashed without a restart, or errored. */
export type WaitPoint = "running" | "ready" | "stopped" | "exit";

/** All states to wait for. */
export const WAIT_POINTS = [
  "running",
  "ready",
  "stopped",
  "exit",
] as const satisfies readonly WaitPoint[];

/** How a process ended. */
export interface Exit {
  /** Exit code; 128 plus the signal's number after a signal; null if unknown. */
  readonly code: number | null;
  /** Name of the signal that ended it; null if none did. */
  readonly signal: string | null;
  /** When it ended. */
  readonly at: Date;
  /** Set if the system could not create the process: the app never ran. */
  readonly refused?: true;
  /** Set if the kernel killed it, or a process of its control group, for lack of memory. */
  readonly oom?: true | undefined;
}

/** An end that was JSON, where the time is text. */
export function exitOf(
  json: Omit<Exit, "at"> & { readonly at: Date | string } | null,
): Exit | null {
  return json === null ? null : { ...json, at: new Date(json.at) };
}

/** The wire form of an end. */
export function exitJson({ code, signal, at, oom }: Exit) {
  return { code, signal, at: at.toISOString(), ...oom && { oom } };
}

/** Resource usage of a process tree. All zero while nothing runs. */
export interface Usage {
  /** Percent of one core, over the time since the previous reading. */
  readonly cpuPercent: number;
  /** Resident memory of the whole tree, in bytes. */
  readonly memBytes: number;
  /** Resident memory in percent of the machine's memory. */
  readonly memPercent: number;
  /** Threads of the whole tree. */
  readonly threads: number;
  /** Open file descriptors. */
  readonly fds: number;
}

export const NO_USAGE: Usage = { cpuPercent: 0, memBytes: 0, memPercent: 0, threads: 0, fds: 0 };

/** A process at the time of the request. */
export interface ProcessInfo extends Usage {
  /** UUID; the wire shows its first 8 characters. */
  readonly id: string;
  /** Sequential number. */
  readonly numericId: number;
  /** Unique name, with the index of the instance if there are several. */
  readonly name: string;
  /** Group that `ns:NAME` targets address. */
  readonly namespace: string;
  /** Index among the instances of the process, from 0. */
  readonly instanceIndex: number;
  /** The resolved runtime; `auto` for a plain program. */
  readonly runtime: string;
  /** State of the process. */
  readonly state: ProcessState;
  /** Whether it runs and has passed its readiness check, if any. */
  readonly ready: boolean;
  /** Result of its health checks; `unknown` without checks. */
  readonly health: Health;
  /** Process id of the app itself, 0 while nothing runs. */
  readonly pid: number;
  /** Last exit code; 0 also if it never ended, see `lastExit`. */
  readonly exitCode: number;
  /** How the last run ended; null if none has. */
  readonly lastExit: Exit | null;
  /** Automatic restarts: after a crash, after a success under `always`, for health, memory and age. */
  readonly restarts: number;
  /** When it was added. */
  readonly createdAt: Date;
  /** When the last run started; null if it never ran. */
  readonly startedAt: Date | null;
  /** When the last run ended; null if none has. */
  readonly finishedAt: Date | null;
  /** When the next automatic restart is due; null if none is. */
  readonly nextRestartAt: Date | null;
  /** Reason for its state, as a phrase for people. */
  readonly lastReason: string;
  /** What happened to its logs during this run, if something did. */
  readonly logProblem?: string;
  /** What the app itself says about its state, by `STATUS=` of sd_notify(3). */
  readonly statusText?: string;
  /** Milliseconds since the start; 0 while nothing runs. */
  readonly uptimeMs: number;
  /** Words that `tag:WORD` targets address. */
  readonly tags: readonly string[];
  /** Configuration with all defaults. */
  readonly config: ProcessConfig;
}

/** Kind of event: a state that was entered, or something else. */
export type ChangeType =
  | "added"
  | "deleted"
  | "adopted"
  | "restarted"
  | "released"
  | "release_failed"
  | "note"
  | "asked"
  | "healthy"
  | "unhealthy"
  | "overdue"
  | "alert"
  | "alert_resolved"
  | ProcessState;

/** When each kind of event happens, for the documentation. */
export const CHANGE_MEANINGS: Readonly<Record<ChangeType, string>> = {
  added: "The process was created.",
  deleted: "The process was deleted.",
  adopted: "A new daemon adopted the running process.",
  restarted:
    "The run of an automatic restart is up, or is over already; `reason` says why it began.",
  released: "A change of its app is on all instances; `by` says who asked.",
  release_failed: "A change of its app failed; `reason` has the reason and the last output.",
  note: "A warning; `reason` says what happened. The state is unchanged.",
  asked: "Someone asked for a change: `by` says who, `reason` for what.",
  healthy: "The health checks succeed again, or for the first time.",
  unhealthy: "The health checks failed `retries` times in a row.",
  overdue:
    "A run of its schedule was missed, or the last one still runs since before the one ahead.",
  alert: "The condition of an alert, in `alert`, holds; `reason` has the value.",
  alert_resolved: "That condition no longer holds, or the alert was removed.",
  starting: "A run is being launched.",
  running: "The run that a user or a schedule started is up, and ready if readiness is configured.",
  stopping: "The run is being stopped.",
  stopped: "It was stopped, or exited with a success code.",
  crashed: "A run ended by itself; `exit` says how. A restart may follow.",
  errored: "It could not be started, or used up its restarts.",
  waiting: "It waits for the next restart, for a dependency, for the machine or for a connection.",
};

/** Every kind of event. */
export const CHANGE_TYPES = Object.keys(CHANGE_MEANINGS) as readonly ChangeType[];

/** Why a run ended, for people and programs. */
export const END_CAUSES: Readonly<Record<EndCause, string>> = {
  crash: "It ended by itself, with a code that counts as a failure, or by a signal.",
  oom: "The kernel killed it for lack of memory.",
  exit: "It ended by itself with a success code.",
  unready: "It did not become ready in time.",
  watchdog: "It did not answer its `watchdog` in time, or did not end after it said that it would.",
  idle: "It had no connection for `idle_timeout`.",
  memory: "It used more memory than `max_memory`.",
  age: "It reached `max_age`.",
  health: "Its health checks failed.",
  watch: "A watched file changed.",
  user: "Someone asked for a stop or a restart.",
  schedule: "A schedule stopped or restarted it.",
  release: "A change of its app replaced it.",
};

/** Why a run ended. */
export type EndCause =
  | "crash"
  | "oom"
  | "exit"
  | "unready"
  | "watchdog"
  | "idle"
  | "memory"
  | "age"
  | "health"
  | "watch"
  | "user"
  | "schedule"
  | "release";

/** One event of a process. */
export interface ProcessChange {
  /** Kind of event. */
  readonly type: ChangeType;
  /** When it happened. */
  readonly at: Date;
  /** UUID. */
  readonly id: string;
  /** Name of the process. */
  readonly name: string;
  /** State after the event. */
  readonly state: ProcessState;
  /** Process id; 0 while nothing runs. */
  readonly pid: number;
  /** Automatic restarts so far. */
  readonly restarts: number;
  /** Reason, as a phrase for people. */
  readonly reason: string;
  /** How the last run ended, at any event; null before the first end. */
  readonly exit: Exit | null;
  /** Who asked, for `asked`: `owner`, or the name of a token, such as `token ci`. */
  readonly by?: string;
  /** Why the last run ended; only of the first event after its end. */
  readonly cause?: EndCause;
  /** The condition of an `alert` or `alert_resolved`. */
  readonly alert?: string;
}
