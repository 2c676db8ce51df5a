/** Apps in the foreground, for containers: no daemon, no socket; ends when they end. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { baseName } from "../model/name.ts";
import type { ProcessInfo } from "../model/process_info.ts";
import { SIGNAL_NAMES, type SignalName } from "../model/signal.ts";
import { Manager } from "../manager/manager.ts";
import { pathsIn } from "../platform/paths.ts";
import { reapOrphans } from "../platform/reaper.ts";
import { ConfigFiles } from "./config_files.ts";
import { logFeed, type LogLine } from "./log_feed.ts";

/** What to run in the foreground. */
export interface ForegroundOptions {
  /** A home that is nobody else's. */
  readonly home: string;
  /** Configuration files, or one process as `start` takes it. */
  readonly files?: readonly string[];
  readonly config?: Readonly<Record<string, unknown>>;
  /** Names of apps whose end is the end of all; none: all must have ended. */
  readonly critical: readonly string[];
  readonly onLine: (line: LogLine) => void;
  readonly warn: (message: string) => void;
}

/** Signals that end everything, and those that are passed on. */
const ENDING = ["SIGTERM", "SIGINT"] as const;
const FORWARDED = ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH"] as const;

/** Once the apps have ended, their last lines are read until none came for this long. */
const QUIET_MS = 150;

/** Runs until the critical app, or every app, has ended for good; the exit code to end with. */
export async function runForeground(options: ForegroundOptions): Promise<number> {
  using _reaper = reapOrphans();
  await using manager = await Manager.open({ logDir: options.home, warn: options.warn });
  const signalled = Promise.withResolvers<void>();
  using _signals = listen(manager, () => signalled.resolve());
  const ended = endOf(manager, options.critical);
  await start(manager, options);
  const printed = print(manager, options.onLine);
  await Promise.race([ended(), signalled.promise]);
  const before = manager.list();
  const outcomes = await manager.fleet.shutDown();
  for (const { error } of outcomes) if (error !== undefined) options.warn(messageOf(error));
  await printed();
  return codeOf(before, manager.list(), options.critical);
}

async function start(manager: Manager, { files, config, home }: ForegroundOptions): Promise<void> {
  if (config !== undefined) {
    const [first] = await manager.fleet.add({ ...config });
    if (first?.error !== undefined) throw first.error;
    return;
  }
  const configs = new ConfigFiles(manager.fleet, `${pathsIn(home).home}/state/configs.json`);
  const { errors } = await configs.apply({ files: files!, startDown: true });
  if (errors.length > 0) throw new ProcsupError("start_failed", errors.join("; "));
}

function listen(manager: Manager, end: () => void): Disposable {
  const listeners: (readonly [Deno.Signal, () => void])[] = [
    ...ENDING.map((signal) => [signal, end] as const),
    ...FORWARDED.map((signal) =>
      [
        signal,
        () => void manager.fleet.signal("all", signal as SignalName).catch(() => {}),
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
function endOf(manager: Manager, critical: readonly string[]): () => Promise<void> {
  const events = manager.events();
  const over = () => {
    const all = manager.list();
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

/** Prints every line; the function returned resolves when the last ones are out. */
function print(manager: Manager, onLine: (line: LogLine) => void): () => Promise<void> {
  const sources = manager.list().map(({ id, name }) => ({
    name,
    files: manager.fleet.logFiles(id),
  }));
  const streams = ["stdout", "stderr"] as const;
  const reader = logFeed(sources, { lines: Infinity, follow: true, streams }).getReader();
  let last = performance.now();
  const reading = (async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      last = performance.now();
      onLine(next.value);
    }
  })().catch(() => {});
  return async () => {
    const from = performance.now();
    while (performance.now() - Math.max(last, from) < QUIET_MS) {
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS / 10));
    }
    await reader.cancel().catch(() => {});
    await reading;
  };
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
