/** Apps in the foreground, for containers: no daemon, no socket; ends when they end. */

import { noteText } from "../config/problem.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import { baseName } from "../model/name.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ProcessInfo } from "../model/process_info.ts";
import { SIGNAL_NAMES, type SignalName } from "../model/signal.ts";
import { openSupervisor } from "../manager/open_supervisor.ts";
import type { Supervisor } from "../manager/supervisor.ts";
import { pathsIn } from "../platform/paths.ts";
import { reapOrphans } from "../platform/reaper.ts";
import { ConfigFiles } from "./config_files.ts";
import { Settings } from "./settings.ts";
import { ForegroundOutput } from "./foreground_output.ts";
import type { LogLine } from "../model/log_line.ts";
import { Webhooks } from "./webhooks/webhooks.ts";

/** What to run in the foreground. */
export interface ForegroundOptions {
  /** A home that is nobody else's. */
  readonly home: string;
  /** Configuration files, or one process as `start` takes it. */
  readonly files?: readonly string[];
  /** Which of the files' apps, and with what they depend on. */
  readonly only?: string;
  readonly profile?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Names of apps whose end is the end of all, beside those of the files; none: all must have ended. */
  readonly critical: readonly string[];
  /** Whether standard input stays open for apps that do not say. */
  readonly stdin: boolean;
  readonly onLine: (line: LogLine) => void;
  readonly onNews: (change: ProcessChange) => void;
  /** Gets the names of what is stopped on Ctrl-C. */
  readonly onInterrupt: (running: readonly string[]) => void;
  readonly warn: (message: string) => void;
}

/** Signals that end everything, and those that are passed on. */
const ENDING = ["SIGTERM", "SIGINT"] as const;
const FORWARDED = ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH"] as const;

/** Exit code of a shell's command that Ctrl-C ended. */
const INTERRUPTED = 130;

/** There is no next daemon that could bring what is on its way to webhooks. */
const LAST_DELIVERIES_MS = 3000;

/** Runs until the critical app, or every app, has ended for good; the exit code to end with. */
export async function runForeground(options: ForegroundOptions): Promise<number> {
  using _reaper = reapOrphans();
  const { home, warn, stdin, onNews } = options;
  await using supervisor = await openSupervisor({ logDir: home, stdin, warn, onNews });
  const output = new ForegroundOutput(pathsIn(home).apps, options.onLine);
  const signalled = Promise.withResolvers<Deno.Signal>();
  using _signals = listen(supervisor, signalled.resolve);
  const critical: string[] = [...options.critical];
  const ended = endOf(supervisor, critical);
  const webhooks = new Webhooks({ folder: pathsIn(home).webhooks, warn });
  critical.push(...await start(supervisor, webhooks, options));
  refuseUnknown(options.critical, supervisor.list());
  output.follow(supervisor);
  const signal = await Promise.race([ended(), signalled.promise]);
  const before = supervisor.list();
  if (signal === "SIGINT") options.onInterrupt(before.filter(isUp).map(({ name }) => name));
  const outcomes = await supervisor.shutDown();
  for (const { error } of outcomes) if (error !== undefined) options.warn(messageOf(error));
  await output.finish();
  await webhooks.close(LAST_DELIVERIES_MS);
  return signal === "SIGINT" ? INTERRUPTED : codeOf(before, supervisor.list(), critical);
}

function isUp({ pid, state }: ProcessInfo): boolean {
  return pid > 0 || state === "starting" || state === "waiting";
}

/** Starts all of them; the names of those that are critical by their file. */
async function start(
  supervisor: Supervisor,
  webhooks: Webhooks,
  { files, only, profile, config, home, warn }: ForegroundOptions,
): Promise<readonly string[]> {
  if (config !== undefined) {
    const [first] = await supervisor.add({ ...config });
    if (first?.error !== undefined) throw first.error;
    return [];
  }
  const settings = new Settings({ supervisor, webhooks, warn });
  const configs = new ConfigFiles(supervisor, pathsIn(home).configs, settings);
  const { errors, critical, notes } = await configs.apply({
    ...{ files: files!, startDown: true },
    ...(only === undefined ? {} : { only }),
    ...(profile === undefined ? {} : { profile }),
  });
  for (const note of notes) warn(noteText(note));
  if (errors.length > 0) throw new ProcsupError("start_failed", errors.join("; "));
  return critical;
}

function refuseUnknown(critical: readonly string[], all: readonly ProcessInfo[]): void {
  const unknown = critical.find((name) => !all.some((one) => isCritical(one, [name])));
  if (unknown === undefined) return;
  throw new ProcsupError("bad_request", `--critical names "${unknown}", which is not run here`);
}

function listen(supervisor: Supervisor, end: (signal: Deno.Signal) => void): Disposable {
  const listeners: (readonly [Deno.Signal, () => void])[] = [
    ...ENDING.map((signal) => [signal, () => end(signal)] as const),
    ...FORWARDED.map((signal) =>
      [
        signal,
        () => void supervisor.signal("all", signal as SignalName).catch(() => {}),
      ] as const
    ),
  ];
  for (const [signal, act] of listeners) Deno.addSignalListener(signal, act);
  return {
    [Symbol.dispose]() {
      for (const [signal, act] of listeners) Deno.removeSignalListener(signal, act);
    },
  };
}

/** A promise, made when asked for, of the moment when there is nothing left to wait for. */
function endOf(supervisor: Supervisor, critical: readonly string[]): () => Promise<void> {
  const events = supervisor.events();
  const over = () => {
    const all = supervisor.list();
    const wanted = critical.length === 0 ? all : all.filter((one) => isCritical(one, critical));
    if (wanted.length === 0) return true;
    return critical.length === 0 ? wanted.every(isOver) : wanted.some(isOver);
  };
  return async () => {
    if (over()) return await events.cancel();
    for await (const _ of events) if (over()) return;
  };
}

function isCritical({ name }: ProcessInfo, critical: readonly string[]): boolean {
  return critical.includes(name) || critical.includes(baseName(name));
}

/** Whether it ended and will not be started again by itself. */
function isOver({ state, lastExit }: ProcessInfo): boolean {
  return state === "errored" || (lastExit !== null && (state === "stopped" || state === "crashed"));
}

/** The critical one's code; else the first that is not 0; 128 + the signal where there was one. */
function codeOf(
  before: readonly ProcessInfo[],
  after: readonly ProcessInfo[],
  critical: readonly string[],
): number {
  const own = (all: readonly ProcessInfo[]) =>
    critical.length === 0 ? all : all.filter((one) => isCritical(one, critical));
  const over = own(before).filter(isOver);
  const codes = (over.length > 0 ? over : own(after)).map(exitCode);
  return codes.find((code) => code !== 0) ?? 0;
}

function exitCode({ lastExit, state }: ProcessInfo): number {
  if (lastExit === null) return state === "errored" ? 1 : 0;
  if (lastExit.signal !== null) return 129 + SIGNAL_NAMES.indexOf(lastExit.signal as SignalName);
  return lastExit.code ?? 1;
}
