/** The vocabulary of a process's life: its snapshot, its inputs and its effects. */

import type { LogTrouble } from "./log_line.ts";
import type { LogPaths } from "./log_paths.ts";
import type { ErrorCode } from "./errors.ts";
import type { HookName } from "./process_config.ts";
import type { EndCause, Exit, ProcessState } from "./process_info.ts";
import type { WatchRestart } from "./restart_budget.ts";
import type { SignalName } from "./signal.ts";
import type { Hint } from "./hint.ts";

/** Whether the user wants the process to run. */
export type DesiredState = "up" | "down";

/** Identifies one launch, so that a later daemon can find it again. */
export interface Run {
  /** Passed to the app as PROCSUP_RUN_ID, so that stray processes are found by their environment. */
  readonly runId: string;
  /** Pid of the launch wrapper; also the process group and the session of the run. */
  readonly wrapperPid: number;
  /** Start time of the wrapper, in the kernel's unit: detects that its pid was reused. */
  readonly wrapperStart: string;
  readonly bootId: string;
  /** The generation of its configuration. */
  readonly generation?: number;
  /** User id that it runs as, if that is not the supervisor's. */
  readonly user?: number;
  /** Sizes of both logs at the launch: the run's own output starts there. */
  readonly outputFrom?: readonly [number, number];
  /** True if it has a notify socket. */
  readonly notify?: true;
  /** Its log files that are not in the home. */
  readonly logs?: LogPaths;
  /** Checksums of what its env_file and the files of its secrets set, by key. */
  readonly contents?: Readonly<Record<string, string>>;
  /** A reload replaced it. Its end completes the reload. */
  readonly replaced?: true;
  /** Of a replaced run: its `pre_stop` hook is over, and it has its stop signal. */
  readonly isSignalled?: true;
}

/**
 * Why a process that should run is being stopped: a user restarts it, it did not become ready in
 * time or hangs, nobody uses it, or it is replaced because it is unhealthy, too large or too old.
 */
type StopCause = "asked" | "failed" | "recycled" | "idle";

/** A hook that completes a restart or a reload. */
export type RestartHook = Extract<HookName, "postRestart" | "postReload">;

/** A request to one process that replaces its run. */
export interface ReplaceRequest {
  readonly verb: "restart" | "reload";
  readonly reason: string;
  /** The generation to launch. Default: the present one when its turn comes. */
  readonly generation?: number;
  /** True if the configuration of the run stays the same: a reload signal is enough. */
  readonly unchanged?: true;
  /** True if the app must survive its reload signal for `min_uptime`. */
  readonly proof?: true;
  /** The attempt whose run is unhealthy, too large or too old. Undefined for a request of a user. */
  readonly recycles?: number;
  /** Why the run ends. Default: a release, if it has a generation, or a user. */
  readonly cause?: EndCause;
}

/** Why a request was not carried out. */
export interface RequestFailure {
  readonly code: ErrorCode;
  /** In words, without the name of the process. */
  readonly why: string;
  readonly hint?: Hint;
}

/** A request to several processes, while its turn has not come. */
export type PendingRequest =
  | { readonly verb: "start" }
  /** With this configuration in wire form, or with the present one. */
  | { readonly verb: "reload"; readonly config?: Readonly<Record<string, unknown>> }
  | { readonly verb: "restart"; readonly reason?: string }
  | { readonly verb: "stop"; readonly timeoutMs?: number; readonly reason?: string };

/** Everything that decides what a process does next. It outlives the daemon. */
export interface Snapshot {
  readonly state: ProcessState;
  readonly desired: DesiredState;
  /** True while it is being deleted. The next daemon continues with that. */
  readonly leaving: boolean;
  /** If the daemon is killed before its turn comes, the next one carries it out. */
  readonly pending: PendingRequest | null;
  /** Requests that replace the run, in order. The first is under way. */
  readonly requests: readonly ReplaceRequest[];
  /** What is done for the first request; see `transition_requests.ts`. */
  readonly requestStep: "before" | "signal" | "proof" | "reloading" | "successor" | null;
  /** Why the last request was not carried out; null if it was. */
  readonly requestFailed: RequestFailure | null;
  /** The generation of its configuration: its next launch uses that. */
  readonly generation: number;
  /** Number of the current or last attempt to start. */
  readonly attempt: number;
  /** Who caused that attempt: a user, a schedule included, or the restart policy. */
  readonly launchedBy: "user" | "automatic";
  readonly run: Run | null;
  /** A second run that replaces `run` once it is ready. */
  readonly successor: Run | null;
  /** Earlier runs that may have left processes behind. */
  readonly leftovers: readonly Run[];
  /** Background hooks that are due but have not begun. */
  readonly dueHooks: readonly HookName[];
  /** Pid of the app itself; 0 until known. */
  readonly pid: number;
  readonly ready: boolean;
  /** Automatic restarts over the process's life, including those after a success under `always`. */
  readonly restarts: number;
  /** Consecutive failures: the exponent of the backoff. */
  readonly consecutiveFailures: number;
  /** Total milliseconds of running since a user last started it. */
  readonly totalUptimeMs: number;
  /** Values of `totalUptimeMs` at the automatic restarts that still count. */
  readonly restartsAt: readonly number[];
  /** Actions in a row on changed files, right after a start or the last one; see `isLoop()`. */
  readonly watchRestarts: readonly number[];
  /** Time of the last action after changed files that left the run alive; null if never. */
  readonly watchedUntil: number | null;
  /** Milliseconds since the epoch. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly nextRestartAt: number | null;
  /** What it waits for, in state `waiting`. */
  readonly awaiting: "delay" | "dependencies" | "machine" | "connection" | null;
  /** The hook of the restart or reload that this start belongs to. It runs once the app is up. */
  readonly hookOnceUp: RestartHook | null;
  /** In state `stopping`: the grace that a user asked for; null: the configured one. */
  readonly stopTimeoutMs: number | null;
  /** In state `stopping`: when the stop signal was sent, in milliseconds since the epoch. */
  readonly signalledAt: number | null;
  /** In state `stopping`: why, if it starts again afterwards. */
  readonly stopCause: StopCause | null;
  /** Why the last run ended or ends, unless by itself. Null once it is at rest, or up again. */
  readonly endCause: EndCause | null;
  /** What the app or another program did to its logs during this run. */
  readonly logTrouble: LogTrouble | null;
  /** Whether one of its runs truncated its log: it opens /dev/stdout or /dev/stderr itself. */
  readonly truncatesLog: boolean;
  /** True if processes of the last run could not be killed; `lastReason` names them. */
  readonly endFailed: boolean;
  readonly lastExit: Exit | null;
  readonly lastReason: string;
}

export const NEW: Snapshot = {
  state: "stopped",
  desired: "down",
  leaving: false,
  pending: null,
  requests: [],
  requestStep: null,
  requestFailed: null,
  generation: 1,
  attempt: 0,
  launchedBy: "user",
  run: null,
  successor: null,
  leftovers: [],
  dueHooks: [],
  pid: 0,
  ready: false,
  restarts: 0,
  consecutiveFailures: 0,
  totalUptimeMs: 0,
  restartsAt: [],
  watchRestarts: [],
  watchedUntil: null,
  startedAt: null,
  finishedAt: null,
  nextRestartAt: null,
  awaiting: null,
  hookOnceUp: null,
  stopTimeoutMs: null,
  signalledAt: null,
  stopCause: null,
  endCause: null,
  endFailed: false,
  lastExit: null,
  lastReason: "",
  logTrouble: null,
  truncatesLog: false,
};

/** What can happen to a process. `at` is in milliseconds since the epoch. */
export type Input =
  | { readonly type: "start_requested"; readonly reason?: string }
  | {
    readonly type: "stop_requested";
    readonly timeoutMs: number;
    readonly reason?: string;
    /** Default: a user. */
    readonly cause?: EndCause;
  }
  /** Its deletion begins, or has failed. */
  | { readonly type: "leaving"; readonly leaving: boolean }
  | { readonly type: "pending"; readonly request: PendingRequest | null }
  /** Its configuration is that of another generation from its next launch on. */
  | { readonly type: "generation"; readonly generation: number }
  | { readonly type: "replace_requested"; readonly request: ReplaceRequest }
  /** The hook before a restart or reload is over. */
  | { readonly type: "before_over"; readonly request: ReplaceRequest }
  /** The app has its reload signal, unless it could not be sent. */
  | {
    readonly type: "reload_signalled";
    readonly request: ReplaceRequest;
    readonly isSent: boolean;
  }
  /** The time for surviving a reload signal, or for the reload, is over. */
  | { readonly type: "proof_over"; readonly request: ReplaceRequest }
  /** The app reports the beginning and the end of its reload. */
  | { readonly type: "reloading"; readonly attempt: number }
  | { readonly type: "reloaded"; readonly attempt: number }
  /** Its watchdog has expired, or the app itself has reported that it hangs. */
  | { readonly type: "hung"; readonly attempt: number; readonly reason: string }
  /** Recorded before the process is spawned. */
  | { readonly type: "launching"; readonly attempt: number; readonly run: Run }
  | {
    readonly type: "launch_failed";
    readonly attempt: number;
    readonly reason: string;
    /** Set if the machine caused the failure, so that a later attempt may succeed. */
    readonly lack?: { readonly at: number; readonly random: number };
  }
  | { readonly type: "launched"; readonly attempt: number; readonly at: number; readonly run: Run }
  | { readonly type: "pid_known"; readonly attempt: number; readonly pid: number }
  | {
    readonly type: "exited";
    readonly attempt: number;
    readonly exit: Exit;
    readonly ranForMs: number;
    /** In [0, 1): jitter of the delay before the next start. */
    readonly random: number;
  }
  /** The run that is being stopped has its stop signal. */
  | { readonly type: "signalled"; readonly attempt: number; readonly at: number }
  | {
    readonly type: "terminated";
    readonly attempt: number;
    readonly at: number;
    readonly exit: Exit | null;
    /** Pids that could not be killed. */
    readonly left: readonly number[];
    /** Why it is unknown whether processes are left; undefined if it is known. */
    readonly problem?: string;
    readonly ranForMs: number;
    readonly random: number;
  }
  /** Recorded before a second run is spawned beside the current one. */
  | { readonly type: "successor_launching"; readonly request: ReplaceRequest; readonly run: Run }
  | {
    readonly type: "successor_failed";
    readonly request: ReplaceRequest;
    readonly failure: RequestFailure;
  }
  /** The second run is up, and ready if readiness is configured: it takes over. */
  | {
    readonly type: "replaced";
    readonly request: ReplaceRequest;
    readonly at: number;
    readonly run: Run;
    readonly pid: number;
  }
  /** A background hook has started. */
  | { readonly type: "hook_begun"; readonly hook: HookName }
  /** A replaced run has its stop signal. */
  | { readonly type: "other_signalled"; readonly run: Run }
  /** A run other than `run` has left nothing behind. */
  | { readonly type: "released"; readonly run: Run }
  | { readonly type: "became_ready"; readonly attempt: number }
  | { readonly type: "ready_timed_out"; readonly attempt: number; readonly reason: string }
  /** Its log was truncated or moved, by itself or by another program. */
  | { readonly type: "log_trouble"; readonly trouble: LogTrouble }
  /** A watched file changed. */
  | (
    & {
      readonly type: "file_changed";
      readonly attempt: number;
      /** Set if the action after it is over and left the run alive. */
      readonly isOver?: true;
    }
    & WatchRestart
  )
  | {
    readonly type: "recycle_requested";
    readonly attempt: number;
    readonly reason: string;
    readonly cause: EndCause;
  }
  /** It had no connection for its `idle_timeout`. */
  | { readonly type: "idle"; readonly attempt: number; readonly reason: string }
  /** A client has connected to the socket at an address. */
  | { readonly type: "connected"; readonly attempt: number; readonly address: string }
  /** The sockets cannot be opened. */
  | { readonly type: "listen_failed"; readonly attempt: number; readonly reason: string }
  | { readonly type: "dependencies_met"; readonly attempt: number }
  | { readonly type: "dependency_failed"; readonly attempt: number; readonly reason: string }
  | { readonly type: "delay_over"; readonly attempt: number }
  | Recovered;

/** What a new daemon found out about a process of an earlier daemon. */
export interface Recovered {
  readonly type: "recovered";
  readonly at: number;
  readonly found:
    /** The machine was rebooted: no part of the process still runs. */
    | { readonly kind: "rebooted"; readonly autostart: boolean }
    | {
      readonly kind: "alive";
      readonly run: Run;
      readonly pid: number;
      readonly ageMs?: number | undefined;
    }
    | {
      readonly kind: "ended";
      readonly exit: Exit;
      readonly random: number;
      readonly ageMs?: number | undefined;
    }
    /** No trace of a run: it was never launched. */
    | { readonly kind: "no_run" };
}

/** What the process's runner must do. */
export type Effect =
  /** Waits for the dependencies, then posts `dependencies_met` or `dependency_failed`. */
  | { readonly type: "await_dependencies" }
  /** Holds the sockets; posts `connected` when a client waits, or `listen_failed`. */
  | { readonly type: "await_connection" }
  /** Launches, then posts `launched` or `launch_failed`. */
  | { readonly type: "launch" }
  /** Takes over the run in the snapshot, which an earlier daemon launched. */
  | { readonly type: "adopt" }
  /** Stops the run and everything it started, or cancels the launch; then posts `terminated`. */
  | {
    readonly type: "terminate";
    readonly timeoutMs: number;
    /** In place of the configured one. */
    readonly signal?: SignalName;
    /** An earlier daemon has run the hooks and sent the signal: only wait. */
    readonly isSignalled?: true;
  }
  /** Kills what is left of `run`, before the next launch; then posts `released`. */
  | { readonly type: "clean_up_orphans"; readonly run: Run }
  /** Posts `delay_over` after `ms`. */
  | { readonly type: "arm_delay"; readonly ms: number }
  /** Ends a run other than the current one, with everything it started; then posts `released`. */
  | { readonly type: "release"; readonly run: Run }
  /** Runs the hook before a restart or reload, then posts `before_over`. */
  | { readonly type: "before"; readonly request: ReplaceRequest; readonly hook: HookName }
  /** Sends the reload signal, then posts `reload_signalled`. */
  | {
    readonly type: "reload_signal";
    readonly request: ReplaceRequest;
    readonly signal: SignalName;
  }
  /** Posts `proof_over` after `ms`, instead of an earlier one. */
  | { readonly type: "arm_proof"; readonly request: ReplaceRequest; readonly ms: number }
  /** Launches a second run; then posts `replaced` or `successor_failed`. */
  | { readonly type: "launch_successor"; readonly request: ReplaceRequest }
  /** The second run is the current one from now on. */
  | { readonly type: "take_over"; readonly run: Run }
  /** Cancels the launch of a second run, and the wait for it. */
  | { readonly type: "abandon" }
  /** Runs a hook in the background. */
  | { readonly type: "hook"; readonly hook: HookName }
  /** Cancels the delay and the wait for dependencies. */
  | { readonly type: "disarm" };
