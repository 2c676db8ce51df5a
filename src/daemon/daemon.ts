/** The daemon: lock, manager, socket and signals, put together; runs until it is told to end. */

import { messageOf } from "../model/errors.ts";
import { Manager } from "../manager/manager.ts";
import { recordDaemon } from "../platform/daemon_record.ts";
import { type HomePaths, pathsIn } from "../platform/paths.ts";
import { PROTOCOL, VERSION } from "../protocol/actions.ts";
import type { ActionContext } from "./actions/context.ts";
import { DaemonLog } from "./daemon_log.ts";
import { ConfigFiles } from "./config_files.ts";
import { ipcApp } from "./ipc_server.ts";
import { serveSocket } from "./socket.ts";
import { Token } from "./token.ts";
import { webBackend, webMounts } from "./web_backend.ts";
import { WebListener } from "./web_listener.ts";

/** How a daemon is run. */
export interface DaemonOptions {
  /** Its home, an absolute path. */
  readonly home: string;
  /** Called when it answers on its socket. */
  readonly onReady?: () => void;
}

/**
 * Runs the daemon of a home until SIGTERM, SIGINT or `shutdown`. A signal leaves the apps running.
 * Throws `home_in_use` when there is one already, `home_unusable` when the home is not safe.
 */
export async function runDaemon(options: DaemonOptions): Promise<number> {
  const paths = pathsIn(options.home);
  const log: { current?: DaemonLog } = {};
  const early: string[] = [];
  const warn = (message: string) => log.current ? log.current.warn(message) : early.push(message);
  // The lock comes first: a second daemon must not touch the first one's log.
  const manager = await Manager.open({ logDir: options.home, warn });
  using opened = new DaemonLog(paths.daemonLog);
  log.current = opened;
  for (const message of early) opened.warn(message);

  const ended = Promise.withResolvers<void>();
  using _signals = onSignals(["SIGTERM", "SIGINT"], () => ended.resolve());
  using _errors = keepRunning((message) => warn(message));
  const endDaemon = () => queueMicrotask(() => ended.resolve());
  const context = daemonContext(manager, paths, { endDaemon, warn });
  // A daemon outlives its terminal: what would end others makes it read its files again.
  using _hangup = onSignals(["SIGHUP"], () => void context.configs.reloadLast(opened));
  const app = ipcApp(context);
  const server = serveSocket(paths, (request) => {
    const web = /^[^/]*\/\/[^/]*\/(?:api\/v\d|livez$|metrics$|openapi\.json$)/.test(request.url);
    return web ? context.web.fetch(request) : app.fetch(request);
  });
  recordDaemon(paths.home, VERSION, PROTOCOL);
  void context.web.resume();
  opened.info(`Daemon ${VERSION} runs as pid ${Deno.pid}, ${manager.list().length} processes`);
  options.onReady?.();

  await ended.promise;
  opened.info("Daemon ends; apps that are up stay up");
  await Promise.all([server.close(), context.web.close()]);
  manager.release();
  return 0;
}

/** What the actions work on. The web surface calls them as every other client does. */
function daemonContext(
  manager: Manager,
  paths: HomePaths,
  { endDaemon, warn }: { endDaemon: () => void; warn: (message: string) => void },
): ActionContext {
  const token = new Token(paths.token);
  const backend = webBackend(manager, () => context);
  const mounts = webMounts(backend, warn);
  const web = new WebListener({ paths, token, backend, warn, mounts });
  const configs = new ConfigFiles(manager.fleet, paths.configs);
  const context: ActionContext = { manager, token, configs, web, endDaemon };
  return context;
}

function onSignals(signals: readonly Deno.Signal[], act: () => void): Disposable {
  for (const signal of signals) Deno.addSignalListener(signal, act);
  return {
    [Symbol.dispose]() {
      for (const signal of signals) Deno.removeSignalListener(signal, act);
    },
  };
}

/** An error that nobody caught is logged, and the supervisor goes on supervising. */
function keepRunning(report: (message: string) => void): Disposable {
  const onError = (event: ErrorEvent) => {
    event.preventDefault();
    report(`Uncaught: ${messageOf(event.error)}\n${event.error?.stack ?? ""}`);
  };
  const onRejection = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    report(`Unhandled: ${messageOf(event.reason)}\n${event.reason?.stack ?? ""}`);
  };
  addEventListener("error", onError);
  addEventListener("unhandledrejection", onRejection);
  return {
    [Symbol.dispose]() {
      removeEventListener("error", onError);
      removeEventListener("unhandledrejection", onRejection);
    },
  };
}
