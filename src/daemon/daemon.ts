/** The daemon: lock, manager, socket and signals, put together; runs until it is told to end. */

import { messageOf } from "../model/errors.ts";
import { Manager } from "../manager/manager.ts";
import { pathsIn } from "../platform/paths.ts";
import { VERSION } from "../protocol/actions.ts";
import { DaemonLog } from "./daemon_log.ts";
import { ipcApp } from "./ipc_server.ts";
import { serveSocket } from "./socket.ts";
import { Token } from "./token.ts";

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
  const app = ipcApp({ manager, token: new Token(paths.token), endDaemon });
  const server = serveSocket(paths, (request) => app.fetch(request));
  opened.info(`Daemon ${VERSION} runs as pid ${Deno.pid}, ${manager.list().length} processes`);
  options.onReady?.();

  await ended.promise;
  opened.info("Daemon ends; apps that are up stay up");
  await server.close();
  manager.release();
  return 0;
}

function onSignals(signals: readonly Deno.Signal[], act: () => void): Disposable {
  for (const signal of signals) Deno.addSignalListener(signal, act);
  // A daemon outlives its terminal.
  const ignore = () => {};
  Deno.addSignalListener("SIGHUP", ignore);
  return {
    [Symbol.dispose]() {
      for (const signal of signals) Deno.removeSignalListener(signal, act);
      Deno.removeSignalListener("SIGHUP", ignore);
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
