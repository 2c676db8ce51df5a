/** Starts apps through the wrapper, and takes over those that an earlier daemon started. */

import { ifPossible, ProcsupError } from "../../model/errors.ts";
import type { LimitsConfig } from "../../model/process_config.ts";
import { NEW_MAIN_LINE } from "../../model/notice.ts";
import type { Exit } from "../../model/process_info.ts";
import type { Run } from "../../model/process_state.ts";
import type { SignalName } from "../../model/signal.ts";
import { SIGNAL_NAMES } from "../../model/signal.ts";
import { dirname } from "@std/path";
import { removeFile } from "../files/atomic_file.ts";
import { type OtherUser, startedByShell } from "../users/as_user.ts";
import { withOwnKeyring } from "../users/keyring.ts";
import { cgroups, Gatherer } from "../scan/cgroup.ts";
import { sealDescriptors, type Spawned, type SpawnStatus, spawnWrapper } from "./child_process.ts";
import { bootId } from "../os.ts";
import { survivors, wrapperAlive } from "../scan/process_group.ts";
import { newMain } from "./new_main.ts";
import { processRow, processTableIfReadable } from "../scan/process_table.ts";
import type { RunFiles } from "./run_files.ts";
import { isOutOfMemory } from "../scan/out_of_memory.ts";
import { markLine } from "./run_mark.ts";
import { localSignal } from "../scan/signals.ts";
import { ClientWatch } from "../sockets/client_watch.ts";
import { type SharedSockets, socketEnv, SocketPool } from "../sockets/sockets.ts";
import { nodePreload, nodePreloadEnv, type PreloadVariable } from "../sockets/sockets_node.ts";
import { type AppStdin, openTerminal } from "./app_input.ts";
import { appBelow, AppPids } from "./app_pids.ts";
import { closeNotifySocket, openNotifySocket } from "./notify_socket.ts";
import { NOT_STARTED, readerWords, wrapperShell, wrapperWords } from "./wrapper.ts";

/** What to run; every path is absolute. */
export interface LaunchSpec {
  readonly runId: string;
  /** Name of the process. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the app except `PROCSUP_RUN_ID`. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the app writes into pipes, not directly into the logs. */
  readonly piped?: boolean;
  readonly stdin?: AppStdin;
  readonly tty?: boolean;
  /** Path of its notify socket, which is created. */
  readonly notify?: string | undefined;
  readonly setup?: LaunchSetup;
}

/** Done in the app's process before its program is executed. */
export interface LaunchSetup {
  /** Lines of shell that set no variables. */
  readonly shell: readonly string[];
  /** Programs that change one thing and then run the rest of the command: `nice -n 5`. */
  readonly prefix: readonly string[];
  /** The user that the app runs as, if not ours. */
  readonly user?: OtherUser | undefined;
  /** Limits of its control group. */
  readonly limits?: LimitsConfig | undefined;
  /** Listening sockets that it inherits from descriptor 3 on. */
  readonly sockets?: SharedSockets | undefined;
  /** Makes the runtime load the preload first; see sockets_node.ts. */
  readonly preload?: PreloadVariable | undefined;
  readonly stopSignal?: SignalName | undefined;
}

const NO_SETUP: LaunchSetup = { shell: [], prefix: [] };

/** A launched or adopted app. */
export interface Child {
  readonly run: Run;
  /** Resolves with the app's own pid. Never resolves if the app ended before it had one. */
  readonly pid: Promise<number>;
  /** Resolves when the app has ended. */
  readonly exited: Promise<Exit>;
}

/** Interval of checks for adopted apps whose exit went unnoticed. */
const NET_MS = 3000;

/** How long the output in an app's pipes may take to reach its logs. */
const DRAIN_MS = 500;

/** Starts and adopts apps. */
export class Launcher {
  readonly #files: RunFiles;
  readonly #pids: AppPids;
  readonly bootId: string = bootId();
  readonly #sockets = new SocketPool();
  readonly #clients = new ClientWatch(this.#sockets);
  readonly #gatherer = new Gatherer(cgroups());
  readonly #adopted = new Map<Run, () => void>();
  #net: ReturnType<typeof setInterval> | undefined;

  constructor(files: RunFiles) {
    this.#files = files;
    this.#pids = new AppPids(files);
    sealDescriptors();
  }

  /** Starts an app. Throws `ProcsupError` `start_failed` when the system refuses. */
  launch(spec: LaunchSpec): Child {
    const { runId } = spec;
    const process = this.#spawn(spec);
    const wrapperPid = process.pid;
    const run: Run = {
      runId,
      wrapperPid,
      wrapperStart: processRow(wrapperPid)?.start ?? "",
      bootId: this.bootId,
    };
    const pid = this.#pids.of(run);
    if (spec.setup?.limits === undefined) {
      void pid.then((pid) => this.#gatherer.gather(run, pid, false));
    }
    const over = spec.piped || spec.tty ? this.#drained(process, run) : process.status;
    return { run, pid, exited: this.#ownExit(over, run, pid) };
  }

  /**
   * Takes over an app that runs, or ran when its record was written, and recovers the sockets that
   * it was given. `note` is called with each failure.
   */
  adopt(run: Run, sockets?: SharedSockets, note: (message: string) => void = () => {}): Child {
    if (sockets !== undefined) this.#recover(run, sockets, note);
    const exited = new Promise<Exit>((resolve) => {
      const over = () => {
        cancel();
        this.#adopted.delete(run);
        if (this.#adopted.size === 0) this.#stopNet();
        resolve(this.exitOf(run.runId));
      };
      const cancel = this.#files.when(run.runId, "exit", () => queueMicrotask(over));
      this.#adopted.set(run, over);
      // A cast fails for lack of descriptors. The next one looks again.
      this.#net ??= setInterval(() => void this.#cast().catch(() => {}), NET_MS);
    });
    const pid = this.#pids.of(run);
    void pid.then((pid) => this.#gatherer.gather(run, pid, true));
    return { run, pid, exited };
  }

  /** Goes on with the new main process of a run whose app has ended, if there is one. */
  follow(run: Run): Child | undefined {
    return this.handOver(run) === undefined ? undefined : this.adopt(run);
  }

  /**
   * Records the new main process of a run whose app has ended, and returns its pid. From then on the
   * run counts as one that has lost its wrapper.
   */
  handOver(run: Run): number | undefined {
    const pid = newMain(run, this.#files.read(run.runId, "pid") ?? 0);
    if (pid === undefined) return undefined;
    // Without a record, the new main process is ended like all that an app leaves behind.
    const isRecorded = ifPossible(() => (this.#files.handOver(run.runId, pid), true));
    if (!isRecorded) return undefined;
    // Without a reader its watchdog is off.
    if (run.notify) ifPossible(() => this.#readNotices(run));
    return pid;
  }

  /** Starts a reader for a new main process. The wrapper has ended that of the former one. */
  #readNotices(run: Run): void {
    const path = this.#files.socketPath(run.runId, run.user !== undefined);
    const { folder } = this.#files;
    const log = `${this.#files.stem(run.runId)}.notify`;
    Deno.writeTextFileSync(log, `\n${NEW_MAIN_LINE}\n\n`, { append: true });
    removeFile(path);
    const notify = openNotifySocket(path, run.user);
    try {
      const args = readerWords(folder, run.runId);
      spawnWrapper({ program: wrapperShell(), args, cwd: folder, env: {}, inherit: [notify] });
    } finally {
      closeNotifySocket(notify);
    }
  }

  /** True if the exit file of a run exists, even if `exited` has not resolved yet. */
  hasEnded(runId: string): boolean {
    return this.#files.read(runId, "exit") !== undefined;
  }

  /** Pid of a run's app, which may have ended; 0 if it is not known. */
  pidOf(run: Run): number {
    const recorded = this.#files.read(run.runId, "pid");
    if (recorded !== undefined || !wrapperAlive(run)) return recorded ?? 0;
    return appBelow(run, processTableIfReadable())?.pid ?? 0;
  }

  /** How a run ended, as its wrapper recorded it; code and signal are null without a record. */
  exitOf(runId: string): Exit {
    const recorded = this.#files.exit(runId);
    if (recorded === undefined) return { code: null, signal: null, at: new Date() };
    const { status, tellsSignal } = recorded;
    if (status === NOT_STARTED) return { code: null, signal: null, at: new Date(), refused: true };
    const at = this.#files.writtenAt(runId, "exit");
    const isCode = !UNTOLD_STATUS.has(status) && !tellsSignal;
    const exit = isCode ? { code: status, signal: null } : exitFromStatus(status);
    // Also the code of a shell whose command was killed.
    const oom = status === KILLED_STATUS &&
      isOutOfMemory(this.#files.read(runId, "pid") ?? 0, cgroups().pathOf(runId));
    return { ...exit, at, ...oom && { oom } };
  }

  /** Forgets a run that is over and recorded. */
  forget(runId: string): void {
    this.#files.remove(runId);
    cgroups().remove(runId);
  }

  /** See `World.awaitConnection()`. */
  awaitConnection(
    sockets: SharedSockets,
    act: (address: string) => void,
    failed: (error: unknown) => void,
  ): () => void {
    return this.#clients.watch(sockets, act, failed);
  }

  /** Closes the sockets of a process except those that its instances are configured with. */
  dropSockets(owner: string, used: ReadonlySet<string>): void {
    this.#sockets.drop(owner, used);
  }

  /** Stops watching adopted apps, which keep running. Resolves when nothing is pending. */
  async close(): Promise<void> {
    this.#adopted.clear();
    this.#clients.close();
    this.#pids.close();
    this.#sockets.close();
    this.#stopNet();
    await this.#gatherer.close();
    await cgroups().settled();
  }

  #recover(run: Run, sockets: SharedSockets, note: (message: string) => void): void {
    // The app may keep running after its wrapper was killed.
    const pids = [run.wrapperPid, this.#files.read(run.runId, "pid") ?? 0].filter((pid) => pid > 0);
    for (const address of this.#sockets.recover(sockets, pids)) {
      note(
        `socket ${address} cannot be taken over from its running instances, which keep serving it: the ` +
          "next one gets another socket beside it, and what waits in the old one's queue is lost " +
          "with its last instance (as root, or with kernel.yama.ptrace_scope=0, it could be)",
      );
    }
  }

  #spawn(spec: LaunchSpec): Spawned {
    const { sockets, shell, prefix, user, limits } = spec.setup ?? NO_SETUP;
    const shared = sockets === undefined ? [] : this.#sockets.descriptors(sockets);
    const listen = {
      ...sockets && socketEnv(sockets),
      ...spec.setup?.preload && this.#preloadEnv(spec.setup.preload, spec.setup, spec.env),
    };
    let notify = -1;
    try {
      this.#files.keep();
      const isWatched = spec.notify !== undefined && spec.env.WATCHDOG_USEC !== undefined;
      // The shell sets these to the pid of the app.
      const pids = [
        ...sockets === undefined ? [] : ["LISTEN_PID"],
        ...isWatched ? ["WATCHDOG_PID"] : [],
      ];
      const lines = [
        ...groupLines(spec.runId, limits),
        ...markLine(spec.runId),
        ...shell,
        ...pids.map((name) => `export ${name}=$procsup_pid`),
      ];
      const whole = { ...spec.env, ...listen, PWD: spec.cwd, PROCSUP_RUN_ID: spec.runId };
      const app = { argv: spec.argv, env: whole, cwd: spec.cwd };
      const { argv, env, cwd } = startedByShell(user, app, pids);
      using terminal = spec.tty ? openTerminal(user?.uid) : undefined;
      const inherit = terminal === undefined ? shared : [...shared, terminal.master];
      if (spec.notify !== undefined) notify = openNotifySocket(spec.notify, user?.uid);
      const wrapper = {
        program: wrapperShell(),
        args: wrapperWords({
          folder: this.#files.folder,
          stdout: spec.stdout,
          stderr: spec.stderr,
          setup: lines.join("\n"),
          name: spec.name,
          piped: spec.piped === true,
          stdin: spec.stdin === true,
          terminal: terminal && { path: terminal.path, master: 3 + shared.length },
          notify: notify < 0 ? undefined : 3 + inherit.length,
          command: [...prefix, ...argv],
        }),
        cwd,
        env,
        inherit: notify < 0 ? inherit : [...inherit, notify],
        inheritsStdin: spec.stdin === "inherit",
      };
      return withOwnKeyring(user, () => spawnWrapper(wrapper));
    } catch (error) {
      cgroups().remove(spec.runId);
      throw new ProcsupError("start_failed", `The system refused: ${(error as Error).message}`, {
        cause: error,
      });
    } finally {
      closeNotifySocket(notify);
    }
  }

  #preloadEnv(
    variable: PreloadVariable,
    { user, sockets, stopSignal }: LaunchSetup,
    env: LaunchSpec["env"],
  ): Record<string, string> {
    const path = nodePreload(dirname(this.#files.folder), user !== undefined);
    const addresses = sockets?.addresses.map(({ text }) => text) ?? [];
    return nodePreloadEnv(variable, path, { addresses, options: env[variable], stopSignal });
  }

  /** The wrapper waits until the pipes are closed, which processes left behind may prevent. */
  async #drained({ status }: Spawned, run: Run): Promise<SpawnStatus> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const overdue = new Promise<SpawnStatus>((resolve) => {
      this.#files.when(run.runId, "exit", (code) => {
        timer = setTimeout(resolve, DRAIN_MS, { code, signal: null });
      });
    });
    const over = await Promise.race([status, overdue]);
    clearTimeout(timer);
    return over;
  }

  async #ownExit(over: Promise<SpawnStatus>, run: Run, pid: Promise<number>): Promise<Exit> {
    const { code, signal } = await over;
    if (!this.hasEnded(run.runId)) {
      // The wrapper could not write the status, but ended with it.
      if (signal === null) return exitFromStatus(code!);
      // Only the wrapper was killed: the app may still run, and is watched like an adopted one.
      if (await this.#mayLive(run, pid)) return await this.adopt(run).exited;
      return exitFromStatus(code ?? 128 + 9, signal);
    }
    return this.exitOf(run.runId);
  }

  /** True also if it cannot be looked for, for lack of descriptors: the next look can tell. */
  async #mayLive(run: Run, pid: Promise<number>): Promise<boolean> {
    const alive = await survivors(run).catch(() => undefined);
    return alive === undefined || alive.includes(await pidSoFar(pid));
  }

  /** Finds adopted apps that ended without an exit file: wrapper killed, or its disk full. */
  async #cast(): Promise<void> {
    // The next launch reports failures.
    ifPossible(() => this.#files.keep());
    for (const [run, over] of [...this.#adopted]) {
      if (!wrapperAlive(run) && !await this.#appAlive(run)) over();
    }
  }

  /** Whether the app itself runs. Processes that it left behind do not count. */
  async #appAlive(run: Run): Promise<boolean> {
    const pid = this.#files.read(run.runId, "pid");
    const alive = await survivors(run);
    return pid === undefined ? alive.length > 0 : alive.includes(pid);
  }

  #stopNet(): void {
    clearInterval(this.#net);
    this.#net = undefined;
  }
}

/** Creates the control group with the limits. Returns shell lines that move the app into it. */
function groupLines(runId: string, limits: LimitsConfig | undefined): string[] {
  if (limits === undefined) return [];
  const group = cgroups().create(runId, limits);
  if (group === undefined) throw new Error("its control group cannot be made");
  // The app is moved before it can fork.
  cgroups().complete(runId);
  return [`echo $procsup_pid >'${group}/cgroup.procs' || exit 126`];
}

/** The pid if it is known already, else 0. */
function pidSoFar(pid: Promise<number>): Promise<number> {
  return Promise.race([pid, new Promise<number>((resolve) => setTimeout(resolve, 0, 0))]);
}

/** The status after SIGKILL. */
const KILLED_STATUS = 128 + 9;

/** Statuses after SIGINT and SIGPIPE, about which no shell prints anything. */
const UNTOLD_STATUS: ReadonlySet<number> = new Set([130, 141]);

/** A shell reports an end by a signal as 128 + its number. */
function exitFromStatus(status: number, known?: string): Exit {
  const linuxName = SIGNAL_NAMES[status - 129];
  const signal = known ?? (linuxName === undefined ? null : localSignal(status - 128, linuxName));
  return { code: status, signal, at: new Date() };
}
