/** The operating system, as one supervised process uses it; replaced in tests. */

import type { Exit } from "../model/process_info.ts";
import type { Run } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import type { AppStdin } from "./launch/app_input.ts";
import type { Cancel, Clock } from "./clock.ts";
import type { Child, LaunchSpec } from "./launch/launcher.ts";
import type {
  Deadline,
  OrphanCleanup,
  StopProgress,
  StopWay,
  TerminationResult,
} from "./scan/process_group.ts";
import type { RunTarget } from "./launch/run_connection.ts";
import type { NoticeSource } from "./launch/notice_log.ts";
import type { ReadyUser } from "./launch/run_files.ts";
import type { Secrets } from "./launch/secrets.ts";
import type { SharedSockets } from "./sockets/sockets.ts";

/** How a run is stopped. The system knows the pid of its app. */
export type WorldStopWay = Omit<StopWay, "main">;

/** See above; `systemWorld()` is the real one. */
export interface World {
  readonly clock: Clock;
  /** A number in [0, 1). */
  random(): number;
  /** Identity of the current boot. */
  readonly bootId: string;
  /** Environment that every app inherits. */
  readonly inherited: Readonly<Record<string, string>>;
  readonly secrets: Secrets;
  /** Folder of the apps' logs. */
  readonly apps: string;
  /** The standard input of apps unless their configuration says otherwise. */
  readonly stdin: AppStdin;
  /** Resolves when the next launch may be tried; undefined when it may start now. */
  readonly busyLaunching: Promise<void> | undefined;
  /** Starts an app. Throws `ProcsupError` `start_failed`. */
  launch(spec: LaunchSpec): Child;
  /** Takes over an app that an earlier daemon started. */
  adopt(run: Run, sockets?: SharedSockets, note?: (message: string) => void): Child;
  /** Goes on with the new main process of a run whose app has ended, if there is one. */
  follow(run: Run): Child | undefined;
  /**
   * Closes the sockets of a process, by its name without an instance's index, except those that its
   * instances are configured with.
   */
  dropSockets(owner: string, used: ReadonlySet<string>): void;
  /**
   * Holds the sockets of a process, and calls `act` once with the address that a client has connected
   * to, or `failed` if they cannot be opened. Returns a cancel function.
   */
  awaitConnection(
    sockets: SharedSockets,
    act: (address: string) => void,
    failed: (error: unknown) => void,
  ): Cancel;
  /** Milliseconds since a client was last known to be connected to the sockets: 0 while one is. */
  unusedForMs(sockets: SharedSockets): number;
  /** True if a run has ended, even if its `exited` has not resolved yet. */
  hasEnded(runId: string): boolean;
  /** How a run that is over ended. */
  exitOf(runId: string): Exit;
  /** File in which an app writes `READY=1`. Created here if the app runs as another user. */
  readyFile(runId: string, user?: ReadyUser): string;
  /** Calls `act` when the app has written it. Returns a cancel function. */
  whenReady(runId: string, act: () => void): Cancel;
  /** Path for the notify socket of a run. */
  notifySocket(runId: string, forOther: boolean): string;
  /** What a run with a notify socket reports; undefined without one. */
  notices(run: Run): NoticeSource | undefined;
  /** Calls `exceeded` at each check that finds more memory in use. Returns a cancel function. */
  limitMemory(run: Run, bytes: number, exceeded: (bytes: number) => void): Cancel;
  /** Connects to a run, and to no other process. Throws `NotTheRun` if that is not possible. */
  connect(target: RunTarget, signal: AbortSignal): Promise<Deno.TcpConn>;
  /** Removes the files of a run that is over and recorded. */
  forget(runId: string): void;
  /** Signals the app alone; false when it has ended. */
  signal(run: Run, pid: number, signal: SignalName): boolean;
  /** Terminates every process of a run. */
  terminate(
    run: Run,
    way: WorldStopWay,
    deadline: Deadline,
    progress: StopProgress,
  ): Promise<TerminationResult>;
  /** Terminates the processes that outlived their run. */
  cleanUpOrphans(run: Run, way: WorldStopWay, deadline: Deadline): OrphanCleanup;
}
