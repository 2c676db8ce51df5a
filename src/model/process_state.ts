/** The words of a process's life: its snapshot, what can happen to it, and what must be done then. */

import type { HookName } from "./process_config.ts";
import type { Exit, ProcessState } from "./process_info.ts";

/** What the user wants of a process. */
export type Wish = "up" | "down";

/** Identity of one launch: enough to find it again after the daemon was replaced. */
export interface Run {
  /** Exported to the app as PROCSUP_ID; finds strays by their environment. */
  readonly runId: string;
  /** Pid of the launch wrapper; also the process group and the session of the run. */
  readonly wrapperPid: number;
  /** Start time of the wrapper in the kernel's own unit: tells it from a later owner of its pid. */
  readonly wrapperStart: string;
  readonly bootId: string;
  /** The user that it runs as, where that is not the supervisor's. */
  readonly user?: number;
  /** Sizes of stdout and stderr log when it was launched: its own output starts there. */
  readonly outputFrom?: readonly [number, number];
}

/**
 * Why a process that is wanted up is being ended: a user asked for a restart, it did not become
 * ready in time, or it is to be replaced (unhealthy, too large, too old).
 */
export type Ending = "asked" | "unready" | "recycled";

/** Everything that decides what a process does next. Survives the daemon. */
export interface Snapshot {
  readonly state: ProcessState;
  readonly wish: Wish;
  /** Number of the current or last start; grows with each. */
  readonly attempt: number;
  readonly run: Run | null;
  /** A new run that is to take the place of `run` once it is ready. */
  readonly successor: Run | null;
  /** Runs that are over for the process, and of which something may still have to be ended. */
  readonly leftovers: readonly Run[];
  /** Hooks on the side that were asked for and have not begun. */
  readonly dueHooks: readonly HookName[];
  /** Pid of the app itself, 0 until it is known. */
  readonly pid: number;
  readonly ready: boolean;
  /** Automatic restarts in the process's life, those after a success under `always` included. */
  readonly restarts: number;
  /** Failures in a row: the exponent of the backoff. */
  readonly streak: number;
  /** Milliseconds spent running since a user last started it. */
  readonly ranMs: number;
  /** Automatic restarts, on the axis of `ranMs`. */
  readonly restartsAt: readonly number[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly nextRestartAt: number | null;
  /** In `waiting`: what for. */
  readonly awaiting: "delay" | "dependencies" | "machine" | null;
  /** The attempt replaces a run that was recycled: post_restart follows its start. */
  readonly postRestartDue: boolean;
  /** In `stopping`: what for, when it is wanted up again afterwards. */
  readonly ending: Ending | null;
  /** Something of the last run could not be ended: `lastReason` names it. */
  readonly endFailed: boolean;
  readonly lastExit: Exit | null;
  readonly lastReason: string;
}

/** A process that was never started. */
export const NEW: Snapshot = {
  state: "stopped",
  wish: "down",
  attempt: 0,
  run: null,
  successor: null,
  leftovers: [],
  dueHooks: [],
  pid: 0,
  ready: false,
  restarts: 0,
  streak: 0,
  ranMs: 0,
  restartsAt: [],
  startedAt: null,
  finishedAt: null,
  nextRestartAt: null,
  awaiting: null,
  postRestartDue: false,
  ending: null,
  endFailed: false,
  lastExit: null,
  lastReason: "",
};

/** What can happen to a process. `at` is in milliseconds since the epoch. */
export type ProcessEvent =
  | { readonly type: "start_requested"; readonly reason?: string }
  | { readonly type: "stop_requested"; readonly timeoutMs: number; readonly reason?: string }
  | { readonly type: "restart_requested"; readonly reason: string }
  /** The intent, on record before the spawn. */
  | { readonly type: "launching"; readonly attempt: number; readonly run: Run }
  | {
    readonly type: "launch_failed";
    readonly attempt: number;
    readonly reason: string;
    /** The machine lacked something that it may have again; without it the app is what is wrong. */
    readonly lack?: { readonly at: number; readonly random: number };
  }
  | { readonly type: "launched"; readonly attempt: number; readonly at: number; readonly run: Run }
  | { readonly type: "pid_known"; readonly attempt: number; readonly pid: number }
  | {
    readonly type: "exited";
    readonly attempt: number;
    readonly exit: Exit;
    readonly ranForMs: number;
    /** In [0, 1): the jitter of the delay that follows. */
    readonly random: number;
  }
  | {
    readonly type: "gone";
    readonly attempt: number;
    readonly at: number;
    readonly exit: Exit | null;
    /** Pids that could not be ended. */
    readonly left: readonly number[];
    /** Why it is not known whether anything is left, where that is so. */
    readonly problem?: string;
    readonly ranForMs: number;
    readonly random: number;
  }
  /** The intent to start a second run beside the one that is up. */
  | { readonly type: "successor_launching"; readonly attempt: number; readonly run: Run }
  /** The second run is up, ready where readiness is asked for, and takes over. */
  | {
    readonly type: "replaced";
    readonly attempt: number;
    readonly at: number;
    readonly run: Run;
    readonly pid: number;
  }
  /** A hook on the side runs. */
  | { readonly type: "hook_begun"; readonly hook: HookName }
  /** Nothing is left of another run than `run`. */
  | { readonly type: "disposed"; readonly run: Run }
  | { readonly type: "became_ready"; readonly attempt: number }
  | { readonly type: "ready_timed_out"; readonly attempt: number; readonly reason: string }
  | { readonly type: "recycle_requested"; readonly attempt: number; readonly reason: string }
  | { readonly type: "dependencies_met"; readonly attempt: number }
  | { readonly type: "dependency_failed"; readonly attempt: number; readonly reason: string }
  | { readonly type: "delay_over"; readonly attempt: number }
  | Recovered;

/** What a new daemon found out about a process that an earlier one looked after. */
export interface Recovered {
  readonly type: "recovered";
  readonly at: number;
  readonly found:
    /** The machine was booted since: nothing of the process can be left. */
    | { readonly kind: "rebooted"; readonly autostart: boolean }
    | { readonly kind: "alive"; readonly run: Run; readonly pid: number; readonly ageMs?: number }
    | {
      readonly kind: "ended";
      readonly exit: Exit;
      readonly random: number;
      readonly ageMs?: number;
    }
    /** No trace of a run: the launch had not happened, or was none under way. */
    | { readonly kind: "no_run" };
}

/** What the process's runner must do. */
export type Effect =
  /** Wait for the dependencies; answers `dependencies_met` or `dependency_failed`. */
  | { readonly type: "await_dependencies" }
  /** Launch; answers `launched` or `launch_failed`. */
  | { readonly type: "launch" }
  /** Look after the run in the snapshot, which an earlier daemon launched. */
  | { readonly type: "adopt" }
  /** End the run and all that belongs to it, or give up the launch; answers `gone`. */
  | { readonly type: "end"; readonly timeoutMs: number; readonly first?: HookName }
  /** End what is left of the run that was up. No launch passes it; answers `disposed`. */
  | { readonly type: "sweep"; readonly run: Run }
  /** Answer `delay_over` after that time. */
  | { readonly type: "arm_delay"; readonly ms: number }
  /** The same for another run, which an earlier daemon left. */
  | { readonly type: "dispose"; readonly run: Run }
  /** Run a hook on the side. */
  | { readonly type: "hook"; readonly hook: HookName }
  /** Wait no longer, neither for the delay nor for dependencies. */
  | { readonly type: "disarm" };
