/** The daemon: puts together lock, supervisor, socket and signals, and runs until it is stopped. */

import { messageOf } from "../model/errors.ts";
import type { ProcessChange } from "../model/process_info.ts";
import { openSupervisor } from "../manager/open_supervisor.ts";
import { recordDaemon, recordPath, refuseNewerState } from "../platform/daemon_record.ts";
import { systemClock } from "../platform/clock.ts";
import { reserveThreads, returnFreedMemory } from "../platform/upkeep.ts";
import { prepareHome } from "../platform/files/paths.ts";
import { everythingEnds, startedBy } from "../platform/service_manager.ts";
import { onSignals } from "../platform/scan/signals.ts";
import { ShutdownNotice } from "../protocol/shutdown_notice.ts";
import { PROTOCOL, VERSION } from "../protocol/version.ts";
import { Alerts } from "./alerts.ts";
import type { VerbContext } from "./verb_context.ts";
import { DaemonLog } from "./capped_file.ts";
import { ConfigFiles } from "./config_files.ts";
import { EventJournal } from "./event_journal.ts";
import { ipcApp } from "./ipc_server.ts";
import { KeptChecks } from "./kept_checks.ts";
import { MetricsHistory, metricsReader } from "./metrics_history.ts";
import { Service, watchdogMs } from "./service.ts";
import { ReadLimits } from "./read_limits.ts";
import { serveSocket } from "./unix_server.ts";
import { Token } from "./token.ts";
import { webBackend, webMounts } from "./web_backend.ts";
import { WebListener } from "./web_listener.ts";
import { Webhooks } from "./webhooks/webhooks.ts";
import { lstatIfAny } from "../platform/files/stat.ts";
import { dropOwnMark } from "../platform/launch/run_mark.ts";

interface DaemonOptions {
  /** Absolute path of its home. */
  readonly home: string;
  readonly copiesOn: VerbContext["copiesOn"];
  /** Called when it answers on its socket. */
  readonly onReady?: () => void;
}

/**
 * Runs the daemon of a home until SIGTERM, SIGINT or `shutdown`. A signal leaves the apps running,
 * unless the machine shuts down. Throws `home_in_use` if another daemon runs, `home_unusable` if the
 * home is not safe, and `other_version` if a newer daemon wrote its files.
 */
export async function runDaemon(options: DaemonOptions): Promise<number> {
  dropOwnMark();
  refuseNewerState(options.home, VERSION);
  const paths = prepareHome(options.home);
  let log: DaemonLog | undefined = undefined;
  const early: string[] = [];
  const warn = (message: string) => log ? log.warn(message) : early.push(message);
  let web: WebListener | undefined = undefined;
  const dashboard = () => web?.publicUrl();
  const webhooks = new Webhooks({ folder: paths.webhooks, dashboard, warn });
  using journal = new EventJournal(paths.events);
  const keepEarly = webhooks.early();
  const onNews = (change: ProcessChange) => {
    journal.record(change);
    keepEarly?.(change);
  };
  const ended = Promise.withResolvers<"asked" | "signalled" | "lost">();
  let restoreFiles = () => {};
  // Take the lock before opening the log: a second daemon must not touch the first one's files.
  const supervisor = await openSupervisor({
    ...{ logDir: options.home, warn, onNews, dashboard },
    onHomeChanged: () => restoreFiles(),
    onHomeLost: () => ended.resolve("lost"),
  });
  using _threads = reserveThreads(warn);
  using _memory = returnFreedMemory();
  using opened = new DaemonLog(paths.daemonLog);
  log = opened;
  for (const message of early) opened.warn(message);

  // A shutdown in progress ends the daemon by itself. Cut short, it would leave apps running.
  const onSignal = () => supervisor.closing || ended.resolve("signalled");
  using _signals = onSignals(["SIGTERM", "SIGINT"], onSignal);
  using _errors = keepRunning(warn);
  const endDaemon = () => queueMicrotask(() => ended.resolve("asked"));
  const read = metricsReader(supervisor);
  using history = new MetricsHistory({
    ...{ folder: paths.metrics, clock: systemClock, read, warn },
    written: (at, readings) => {
      checks.write(at);
      alerts.look(at, readings);
    },
  });
  const checks = new KeptChecks(supervisor, paths.checks);
  const alerts = new Alerts({ supervisor, history, path: paths.alerts, home: paths.home });
  supervisor.directory.watch(({ name }, before) => before && history.renamed(before, name));
  const parts = { supervisor, paths, webhooks, alerts, journal, history };
  const given = { ...parts, copiesOn: options.copiesOn, endDaemon, log };
  const context = daemonContext(given, warn);
  web = context.web;
  // A daemon has no terminal: SIGHUP reloads its files.
  using _hangup = onSignals(["SIGHUP"], () => void context.configs.reloadLast(opened));
  const app = ipcApp(context);
  const server = serveSocket(paths, (request) => {
    const web = /^[^/]*\/\/[^/]*\/(?:api\/v\d|livez$|metrics$|openapi\.json$)/.test(request.url);
    return web ? context.web.fetch(request) : app.fetch(request);
  }, warn);
  const recordSelf = () => recordDaemon(paths.home, VERSION, PROTOCOL);
  supervisor.writes.attempt("the record of the daemon", recordSelf);
  restoreFiles = restorer([
    { path: paths.socket, what: "socket", putBack: () => server.putBack() },
    { path: paths.token, what: "token", putBack: () => context.token.putBack() },
    { path: recordPath(paths.home), what: "record of the daemon", putBack: recordSelf },
  ], warn);
  void webhooks.resume(supervisor);
  void context.web.resume();
  opened.info(`Daemon ${VERSION} runs as pid ${Deno.pid}, ${supervisor.list().length} processes`);
  using service = new Service(Deno.env.get("NOTIFY_SOCKET"), warn);
  service.ready(watchdogMs());
  history.start();
  options.onReady?.();

  const why = await ended.promise;
  checks.write(Infinity);
  // The daemon now removes these files itself: stop restoring them.
  restoreFiles = () => {};
  if (why === "signalled" && await everythingEnds(startedBy())) {
    opened.info("The machine shuts down: stopping the apps; the next daemon starts them again");
    service.halting();
    for (const { error } of await supervisor.halt()) if (error) warn(error.message);
  } else {
    opened.info("Daemon stopped; running apps keep running");
    service.stopping();
  }
  // Also before the home is released: what the logs still write must not meet the next daemon.
  const closing = [
    context.web.close({ keepPort: !supervisor.closing }),
    webhooks.close(),
    supervisor.logs.close(),
  ];
  await Promise.all([server.close(why !== "lost"), ...closing]);
  supervisor.release();
  return 0;
}

/** The context of the verbs. The web surface calls them like any other client. */
function daemonContext(
  given: Omit<VerbContext, "token" | "configs" | "web" | "shutdownNotice" | "limits">,
  warn: (message: string) => void,
): VerbContext {
  const { supervisor, paths, webhooks, alerts } = given;
  const token = new Token(paths.token);
  const shutdownNotice = new ShutdownNotice();
  const backend = webBackend(supervisor, shutdownNotice, () => context);
  const mounts = webMounts(backend, warn);
  const web = new WebListener({ paths, token, backend, warn, mounts });
  shutdownNotice.listen((notice) => web.publish(notice));
  const configs = new ConfigFiles({ supervisor, web, webhooks, alerts, path: paths.configs, warn });
  const limits = new ReadLimits();
  const context: VerbContext = { ...given, token, configs, web, shutdownNotice, limits };
  if (/^(true|1)$/.test(Deno.env.get("OTEL_DENO") ?? "")) {
    const events = backend.events();
    void import("./telemetry.ts").then(({ exportTelemetry }) => exportTelemetry(backend, events));
  }
  return context;
}

/** Logs uncaught errors, so that supervision continues. */
function keepRunning(report: (message: string) => void): Disposable {
  const onError = (event: Event) => {
    event.preventDefault();
    const { error, reason = error } = event as Event & { error?: unknown; reason?: unknown };
    const stack = reason instanceof Error ? reason.stack : "";
    report(`${event.type === "error" ? "Uncaught" : "Unhandled"}: ${messageOf(reason)}\n${stack}`);
  };
  const types = ["error", "unhandledrejection"];
  for (const type of types) addEventListener(type, onError);
  return {
    [Symbol.dispose]() {
      for (const type of types) removeEventListener(type, onError);
    },
  };
}

interface StandingFile {
  readonly path: string;
  /** Its name in the log. */
  readonly what: string;
  /** Restores the file. Returns false if it was intact. */
  readonly putBack: () => boolean | void;
}

/**
 * Returns a function that restores files that clients need, if they were removed or changed since
 * its last call. It takes one system call for each; the first call creates missing ones.
 */
function restorer(files: readonly StandingFile[], warn: (message: string) => void): () => void {
  const marks = new Map(files.map((file) => [file, markOf(file.path)]));
  const failing = new Set<StandingFile>();
  return () => {
    for (const file of files) {
      const mark = markOf(file.path);
      if (mark !== "" && mark === marks.get(file)) continue;
      try {
        if (file.putBack() !== false) warn(`The ${file.what} was removed; it is restored`);
        marks.set(file, markOf(file.path));
        failing.delete(file);
      } catch (error) {
        if (failing.has(file)) continue;
        failing.add(file);
        warn(`Cannot restore the ${file.what}, will try again: ${messageOf(error)}`);
      }
    }
  };
}

/** Identifies a file and its state; empty if it does not exist. */
function markOf(path: string): string {
  const info = lstatIfAny(path);
  if (info === undefined) return "";
  return [info.dev, info.ino, info.mode, info.size, info.mtime?.getTime()].join(" ");
}
