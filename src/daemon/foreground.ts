/** Runs apps in the foreground, for containers: without a daemon or a socket, until the apps end. */

import { noteLines } from "../config/problem.ts";
import { ifPossible, messageOf, ProcsupError } from "../model/errors.ts";
import { baseName } from "../model/name.ts";
import type { ProcessChange, ProcessInfo } from "../model/process_info.ts";
import type { Snapshot } from "../model/process_state.ts";
import { signalCode, type SignalName } from "../model/signal.ts";
import { isSuccess } from "../model/transition_steps.ts";
import { openSupervisor } from "../manager/open_supervisor.ts";
import type { Supervisor } from "../manager/supervisor.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { removeIfPossible, replaceFile } from "../platform/files/atomic_file.ts";
import type { AppStdin } from "../platform/launch/app_input.ts";
import { pathsIn } from "../platform/files/paths.ts";
import { reapOrphans } from "../platform/upkeep.ts";
import { hasTerminal, ignoresSignal, onSignals } from "../platform/scan/signals.ts";
import { ConfigFiles } from "./config_files.ts";
import type { RunSettings } from "../config/load_config.ts";
import { type LogLine, type LogStart, positionKey } from "../model/log_line.ts";
import { Webhooks } from "./webhooks/webhooks.ts";
import { logFeed, type LogSource } from "../logs/read/log_feed.ts";
import { logEnd } from "../logs/write/log_position.ts";
import { BATCHES, LogBatch } from "./log_batch.ts";

interface ForegroundOptions {
  /** A home for this run alone. */
  readonly home: string;
  /** Configuration files; otherwise `config` has one process. */
  readonly files?: readonly string[];
  /** Apps to select from the files; their dependencies are added. */
  readonly only?: string;
  /** A single app of the files, in its own container. */
  readonly single?: { readonly name: string; readonly now: boolean };
  /** A file that exists while every app is ready and not unhealthy. */
  readonly readyFile?: string;
  readonly profile?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  /**
   * Names of apps whose end stops everything, in place of `run.critical`. If there are none, all
   * apps must end that are neither jobs nor have `autostart: false`.
   */
  readonly critical: readonly string[];
  /** The standard input of apps without the key `stdin`. */
  readonly stdin: AppStdin;
  readonly onLine: (line: LogLine) => void;
  /** Whether a line without its end is printed after a silence. */
  readonly unfinished: boolean;
  readonly onNews: (change: ProcessChange) => void;
  /** Rejects when news cannot be printed. That ends the run, as a line does that cannot be printed. */
  readonly newsFailed: Promise<never>;
  /** Called on Ctrl-C with the names of the apps that are stopped. */
  readonly onInterrupt: (running: readonly string[]) => void;
  /** Called when a second signal kills these apps. */
  readonly onHurry: (running: readonly string[]) => void;
  readonly warn: (message: string) => void;
  /** Whether to print every note on another tool's file. */
  readonly allNotes: boolean;
}

/** Signals that stop everything, and signals that are forwarded to the apps. */
const ENDING = ["SIGTERM", "SIGINT", "SIGQUIT"] as const;
const FORWARDED = ["SIGUSR1", "SIGUSR2", "SIGWINCH"] as const;

/** A signal this soon after the first is the same one: `npm run` passes on what its group got. */
const SAME_SIGNAL_MS = 100;

/** A shell sends SIGHUP to its jobs shortly before it ends and the terminal is gone. */
const HANGUP_MS = 1000;

/** Time for the last deliveries to webhooks: no later daemon can send them. */
const LAST_DELIVERIES_MS = 3000;

/**
 * Runs until a critical app, or every app, has ended for good. Returns the exit code. When the output
 * cannot be printed, stops the apps and throws that error.
 */
export async function runForeground(options: ForegroundOptions): Promise<number> {
  using _reaper = reapOrphans();
  const { home, warn, stdin, onNews } = options;
  const signals = new EndingSignals();
  using _ending = onSignals(ENDING, (signal) => signals.add(signal));
  await using supervisor = await openSupervisor({ logDir: home, stdin, warn, onNews });
  signals.hurry = () => {
    ifPossible(() => options.onHurry(namesUp(supervisor)));
    void supervisor.stop("all", { force: true }).catch((error) => warn(messageOf(error)));
  };
  const output = new ForegroundOutput(options);
  const forwarded = new ForwardedSignals(supervisor);
  using _forwarded = onSignals(FORWARDED, (signal) => forwarded.add(signal));
  using _hangup = onHangup(() => forwarded.add("SIGHUP"), () => signals.add("SIGHUP"));
  using _ready = showReadiness(supervisor, options);
  let rules: RunSettings = { critical: options.critical, exitOnFailure: [] };
  const ended = endOf(supervisor, () => rules);
  const webhooks = new Webhooks({ folder: pathsIn(home).webhooks, warn });
  // A signal ends the start too: hooks may take long.
  const starting = start(supervisor, webhooks, options, () => {
    if (supervisor.list().some(({ config }) => config.alerts.length > 0)) {
      warn('"alerts" of apps are ignored: procsup run keeps no history of figures');
    }
    refuseUnknown(options.critical, supervisor.list());
    output.follow(supervisor);
    forwarded.begin();
  });
  const ending = Promise.race([signals.first, output.failed, options.newsFailed]);
  try {
    const started = await Promise.race([starting, ending]);
    if (typeof started === "object") rules = started;
    const signal = typeof started === "string" ? started : await Promise.race([ended(), ending]);
    const before = supervisor.list();
    const up = namesUp(supervisor);
    if (signal === "SIGINT" && up.length > 0) options.onInterrupt(up);
    const outcomes = await supervisor.shutDown();
    await starting.catch(() => {});
    for (const { error } of outcomes) if (error !== undefined) options.warn(messageOf(error));
    await output.finish();
    // Only at SIGTERM, when all had started, do the exit codes of apps count.
    if (signal && (signal !== "SIGTERM" || signal === started)) return signalCode(signal);
    return codeOf(before, supervisor.list(), rules);
  } catch (error) {
    // Without a daemon, only this process can stop the apps.
    await supervisor.shutDown();
    await starting.catch(() => {});
    await output.finish();
    throw error;
  } finally {
    await webhooks.close(LAST_DELIVERIES_MS);
  }
}

/** The signals that end the run: the first stops its apps, each later one kills them. */
class EndingSignals {
  readonly #first = Promise.withResolvers<SignalName>();
  #firstAt: number | undefined;
  /** Called at each signal after the first. */
  hurry: () => void = () => {};

  get first(): Promise<SignalName> {
    return this.#first.promise;
  }

  add(signal: SignalName): void {
    const now = performance.now();
    this.#first.resolve(signal);
    this.#firstAt ??= now;
    // The kernel and the shell each send one when a terminal is closed.
    if (signal !== "SIGHUP" && now - this.#firstAt > SAME_SIGNAL_MS) this.hurry();
  }
}

/** Forwards signals to the apps. One that is about to start gets them once it has a pid. */
class ForwardedSignals {
  readonly #supervisor: Supervisor;
  /** Those that came before there were apps; undefined once there are. */
  #early: SignalName[] | undefined = [];

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  /** Call it once all apps are registered. */
  begin(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const signal of early) this.add(signal);
  }

  add(signal: SignalName): void {
    if (this.#early !== undefined) return void this.#early.push(signal);
    for (const process of this.#supervisor.directory.list()) {
      // It fails for an app that has ended, or is deleted.
      this.#send(process, signal).catch(() => {});
    }
  }

  async #send(process: ManagedProcess, signal: SignalName): Promise<void> {
    const isComing = ({ state, attempt }: Snapshot) =>
      state === "starting" || state === "running" || attempt === 0 && startsAtOnce(process);
    const { pid } = await process.until((now) => now.pid > 0 || !isComing(now), process.gone);
    if (pid > 0) process.signal(signal);
  }
}

/**
 * Calls `gone` at SIGHUP when the terminal of this process is gone, and `forward` when it is not, or
 * there never was one. Does nothing if SIGHUP is ignored, as under nohup.
 */
function onHangup(forward: () => void, gone: () => void): Disposable {
  if (ignoresSignal("SIGHUP")) return { [Symbol.dispose]() {} };
  const hadTerminal = hasTerminal();
  const isGone = () => hadTerminal && !hasTerminal();
  return onSignals(["SIGHUP"], () => {
    if (isGone()) return gone();
    forward();
    if (hadTerminal) setTimeout(() => isGone() && gone(), HANGUP_MS);
  });
}

/**
 * Keeps the ready file while every app that starts with the run is ready, for the health probe of a
 * container engine.
 */
function showReadiness(supervisor: Supervisor, options: ForegroundOptions): Disposable {
  const { readyFile: path, warn } = options;
  if (path === undefined) return { [Symbol.dispose]() {} };
  let shown: boolean | undefined;
  const show = (ready: boolean) => {
    if (ready === shown) return;
    shown = ready;
    if (ready) replaceFile(path, "");
    else removeIfPossible(path);
  };
  show(false);
  const events = supervisor.events.stream().getReader();
  const follow = async () => {
    while (!(await events.read()).done) {
      const all = supervisor.list();
      show(all.length > 0 && all.filter(startsAtOnce).every(isReady));
    }
  };
  follow().catch((error) => warn(`--ready-file: ${messageOf(error)}`));
  return {
    [Symbol.dispose]() {
      void events.cancel();
      show(false);
    },
  };
}

function isReady({ state, health }: ProcessInfo): boolean {
  return state === "running" && health !== "unhealthy";
}

function isUp({ pid, state }: ProcessInfo): boolean {
  return pid > 0 || state === "starting" || state === "waiting";
}

function namesUp(supervisor: Supervisor): string[] {
  return supervisor.list().filter(isUp).map(({ name }) => name);
}

/**
 * Registers all apps, calls `onRegistered`, then starts them. Returns the rules for the end of the
 * run, from the flags and the files.
 */
async function start(
  supervisor: Supervisor,
  webhooks: Webhooks,
  { files, only, single, profile, config, home, warn, ...options }: ForegroundOptions,
  onRegistered: () => void,
): Promise<RunSettings> {
  if (config !== undefined) {
    const added = await supervisor.add({ ...config }, { start: false });
    onRegistered();
    const [first] = await supervisor.startAdded(added.map(({ process }) => process));
    if (first?.error !== undefined) throw first.error;
    return { critical: options.critical, exitOnFailure: [] };
  }
  const configs = new ConfigFiles({ supervisor, webhooks, path: pathsIn(home).configs, warn });
  const { errors, outcomes, run, notes } = await configs.apply({
    ...{ files: files!, only, single, profile },
    ...{ startDown: true, inForeground: true, onRegistered },
  });
  for (const line of noteLines(notes, options.allNotes)) warn(line);
  // An app that ran and ended is not a failed start: the rules of the run decide.
  const ended = outcomes.filter(({ error, process }) =>
    error !== undefined && hasRun(process.snapshot)
  );
  if (errors.length > ended.length) throw new ProcsupError("start_failed", errors.join("; "));
  // Ignore critical apps that are not part of this run.
  const critical = run.critical.filter((name) =>
    supervisor.list().some((one) => isNamed(one, [name]))
  );
  return { ...run, critical: options.critical.length > 0 ? options.critical : critical };
}

function hasRun({ lastExit }: Pick<ProcessInfo, "lastExit">): boolean {
  return lastExit !== null && (lastExit.code ?? lastExit.signal) !== null;
}

function refuseUnknown(critical: readonly string[], all: readonly ProcessInfo[]): void {
  const unknown = critical.find((name) => !all.some((one) => isNamed(one, [name])));
  if (unknown === undefined) return;
  throw new ProcsupError("bad_request", `Invalid --critical "${unknown}": no such app in this run`);
}

/** Returns a function that waits until the rules end the run. */
function endOf(supervisor: Supervisor, rules: () => RunSettings): () => Promise<void> {
  const events = supervisor.events.stream();
  const over = () => {
    const all = supervisor.list();
    const { critical, exitOnFailure } = rules();
    if (all.some((one) => hasFailed(one, exitOnFailure))) return true;
    const wanted = decisive(all, rules());
    // Jobs alone go on with their schedules.
    if (wanted.length === 0) return !all.some(isJob);
    return critical.length === 0 ? wanted.every(isOver) : wanted.some(isOver);
  };
  return async () => {
    if (over()) return await events.cancel();
    for await (const _ of events) if (over()) return;
  };
}

function isNamed({ name }: ProcessInfo, names: readonly string[]): boolean {
  return names.includes(name) || names.includes(baseName(name));
}

/** Whether a process with one of these names failed and will not be restarted. */
function hasFailed(one: ProcessInfo, names: readonly string[]): boolean {
  return isNamed(one, names) && isOver(one) && one.state !== "stopped";
}

/** Whether it ended and will not restart by itself. */
function isOver({ state, lastExit }: ProcessInfo): boolean {
  return state === "errored" || (lastExit !== null && (state === "stopped" || state === "crashed"));
}

function isJob({ config }: Pick<ProcessInfo, "config">): boolean {
  return config.cron !== undefined;
}

/** Whether it is neither a job nor waits for its user to start it. */
function startsAtOnce(one: Pick<ProcessInfo, "config">): boolean {
  return one.config.autostart && !isJob(one);
}

/**
 * The processes that decide the end of the run: the critical ones, otherwise all but jobs and what
 * waits for its user to start it.
 */
function decisive(all: readonly ProcessInfo[], { critical }: RunSettings): readonly ProcessInfo[] {
  return all.filter((one) => critical.length === 0 ? startsAtOnce(one) : isNamed(one, critical));
}

/**
 * The exit code of the app that ended the run, otherwise the first that is not 0; 128 plus the
 * signal's number after a signal.
 */
function codeOf(
  before: readonly ProcessInfo[],
  after: readonly ProcessInfo[],
  rules: RunSettings,
): number {
  const failed = before.filter((one) => hasFailed(one, rules.exitOnFailure));
  const over = failed.length > 0 ? failed : decisive(before, rules).filter(isOver);
  const codes = (over.length > 0 ? over : decisive(after, rules)).map(exitCode);
  return codes.find((code) => code !== 0) ?? 0;
}

/** A container engine knows only 0 as success. */
function exitCode({ lastExit, state, config }: ProcessInfo): number {
  if (lastExit === null) return state === "errored" ? 1 : 0;
  if (isSuccess(lastExit, config)) return 0;
  if (lastExit.signal !== null) return signalCode(lastExit.signal as SignalName);
  return lastExit.code ?? 1;
}

const STREAMS = ["stdout", "stderr"] as const;

/** Prints the output of the apps: every line once, from their start to their end. */
class ForegroundOutput {
  readonly #onLine: (line: LogLine) => void;
  readonly #unfinished: boolean;
  readonly #positions: Record<string, number> = {};
  readonly #failed = Promise.withResolvers<never>();
  #sources: readonly LogSource[] = [];
  #following = async () => {};

  constructor({ onLine, unfinished }: Pick<ForegroundOptions, "onLine" | "unfinished">) {
    this.#onLine = onLine;
    this.#unfinished = unfinished;
  }

  /** Rejects when a line cannot be printed: the reader of the output is gone. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Prints all output of the apps. Call it before any of them starts. */
  follow(supervisor: Supervisor): void {
    this.#sources = supervisor.directory.list().map(({ name, logs }) => ({ name, files: logs }));
    for (const { name, files } of this.#sources) {
      for (const stream of STREAMS) {
        // Nothing was written yet.
        this.#positions[positionKey({ name, stream })] = ifPossible(() => logEnd(files[stream])) ??
          0;
      }
    }
    const reader = this.#feed(true).getReader();
    // Lines that could not be read are printed at the end; `failed` tells of those not printed.
    const reading = this.#print(reader).catch(() => {});
    this.#following = async () => {
      await reader.cancel().catch(() => {});
      await reading;
    };
  }

  /** Prints the rest of the output after the apps have ended. */
  async finish(): Promise<void> {
    await this.#following();
    await this.#print(this.#feed(false).getReader());
  }

  #feed(follow: boolean): ReadableStream<LogBatch | LogStart> {
    const from = { ...this.#positions };
    const options = { lines: 0, follow, streams: STREAMS, from, unfinished: this.#unfinished };
    return logFeed(this.#sources, options, BATCHES.whole);
  }

  async #print(reader: ReadableStreamDefaultReader<LogBatch | LogStart>): Promise<void> {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (!(next.value instanceof LogBatch)) continue;
      for (const line of next.value.lines) {
        this.#printLine(line);
        this.#positions[positionKey(line)] = line.end;
      }
    }
  }

  #printLine(line: LogLine): void {
    try {
      this.#onLine(line);
    } catch (error) {
      this.#failed.reject(error);
      throw error;
    }
  }
}
