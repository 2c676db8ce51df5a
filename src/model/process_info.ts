/** What there is to know about a process: the read-only snapshot behind every surface. */

import type { Health } from "./health.ts";
import type { ProcessConfig } from "./process_config.ts";

/** Where a process is in its life. */
export type ProcessState =
  | "starting"
  | "running"
  | "stopping"
  | "stopped"
  | "crashed"
  | "errored"
  | "waiting";

/** All of them. */
export const PROCESS_STATES = [
  "starting",
  "running",
  "stopping",
  "stopped",
  "crashed",
  "errored",
  "waiting",
] as const satisfies readonly ProcessState[];

/** All of them, those that need somebody first. */
export const STATES_BY_URGENCY: readonly ProcessState[] = [
  "errored",
  "crashed",
  "waiting",
  "starting",
  "stopping",
  "running",
  "stopped",
];

/** How a process ended. `code` is null when it is not known, `signal` null when none ended it. */
export interface Exit {
  /** Exit code; 128 + the signal's number when a signal ended it. */
  readonly code: number | null;
  /** The signal that ended it. */
  readonly signal: string | null;
  /** When it ended. */
  readonly at: Date;
  /** The system had no process for it: it never ran. */
  readonly refused?: true;
}

/** What a process tree uses. All zero while nothing runs. */
export interface Usage {
  /** Percent of one core, over the time since the previous reading. */
  readonly cpuPercent: number;
  /** Resident memory of the whole tree, in bytes. */
  readonly memBytes: number;
  /** The same in percent of the machine's memory. */
  readonly memPercent: number;
  /** Threads of the whole tree. */
  readonly threads: number;
  /** Open file descriptors. */
  readonly fds: number;
}

/** Usage of a process that does not run. */
export const NO_USAGE: Usage = { cpuPercent: 0, memBytes: 0, memPercent: 0, threads: 0, fds: 0 };

/** A process as it stood when it was asked about. */
export interface ProcessInfo extends Usage {
  /** UUID; the wire shows its first 8 characters. */
  readonly id: string;
  /** Sequential number. */
  readonly numericId: number;
  /** Unique name; with the instance's index where there are several. */
  readonly name: string;
  /** Group. */
  readonly namespace: string;
  /** 0 for the first. */
  readonly instanceIndex: number;
  /** The runtime that runs it, `auto` resolved; `""` for a plain program. */
  readonly runtime: string;
  /** Where it is in its life. */
  readonly state: ProcessState;
  /** Whether it runs and answered its readiness check, where it has one. */
  readonly ready: boolean;
  /** What its health checks say; `unknown` without them. */
  readonly health: Health;
  /** Process id of the app itself, 0 while nothing runs. */
  readonly pid: number;
  /** Last exit code; 0 also when it never ended, see `lastExit`. */
  readonly exitCode: number;
  /** Null when it never ended. */
  readonly lastExit: Exit | null;
  /** Automatic restarts: after a crash or, under `always`, a success; for liveness, memory and age. */
  readonly restarts: number;
  /** When it was added. */
  readonly createdAt: Date;
  /** When its last run began; null when there was none. */
  readonly startedAt: Date | null;
  /** When its last run ended; null when none did. */
  readonly finishedAt: Date | null;
  /** When the next automatic restart is due. */
  readonly nextRestartAt: Date | null;
  /** Why it is in this state, in words. */
  readonly lastReason: string;
  /** Milliseconds since the start; 0 while nothing runs. */
  readonly uptimeMs: number;
  /** Words of its configuration. */
  readonly tags: readonly string[];
  /** Its configuration, defaults filled in. */
  readonly config: ProcessConfig;
}
