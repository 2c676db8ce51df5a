/**
 * The preload with which unchanged Node apps serve shared sockets, and report readiness by
 * `process.send("ready")`, as under PM2. `listen(8080)` takes the inherited descriptor instead of
 * opening another socket. For Node 18 and later. Readiness also works in Bun, and in Deno since
 * some 2.x, which reads NODE_OPTIONS.
 */

import { ProcsupError } from "../../model/errors.ts";
import type { SignalName } from "../../model/signal.ts";
import { readFileIfAny, replaceFile } from "../files/atomic_file.ts";
import { FOR_OTHER_USERS, prepareForOtherUsers } from "../users/as_user.ts";

/**
 * The CommonJS code that runs in the app before its own.
 *
 * - It acts in the process that got the sockets (`LISTEN_PID`), and in no child of it.
 * - npx and tsx start the app as a child: it acts in the child, not in them.
 * - It removes itself from the environment, so that children neither load it nor see it.
 * - An address whose descriptor is in use is left to Node, which then reports EADDRINUSE as usual.
 * - If one `listen()` means several sockets, the others pass their connections to the first.
 * - At the stop signal, an app that does not handle it accepts no more connections, finishes its
 *   answers, ends connections that are idle, and then ends by the signal as it would have.
 */
const NODE_PRELOAD: string = `"use strict";
const { env, pid } = process;
const texts = (env.PROCSUP_SOCKETS || "").split(" ");
const mine = Number(env.LISTEN_PID) === pid && env.PROCSUP_SOCKETS !== undefined;
const readyFile = env.PROCSUP_READY_FILE;
const starter = /(^|[\\\\/])(npx|tsx)(-cli\\.js)?$|[\\\\/]tsx[\\\\/]dist[\\\\/]/.test(process.argv[1] || "");
if (mine || (readyFile && env.PROCSUP_SOCKETS === undefined && !starter)) {
  const options = process.versions.bun ? "BUN_OPTIONS" : "NODE_OPTIONS";
  env[options] = env.PROCSUP_NODE_OPTIONS || "";
  if (!env[options]) delete env[options];
  delete env.PROCSUP_NODE_OPTIONS;
  delete env.PROCSUP_SOCKETS;
  if (readyFile && process.send === undefined) {
    process.send = (message, ...more) => {
      if (message === "ready") require("fs").writeFileSync(readyFile, "READY=1\\n");
      const callback = more.find((one) => typeof one === "function");
      if (callback) process.nextTick(callback, null);
      return true;
    };
  }
}
if (mine) {
  const net = require("net");
  const sockets = texts.map((text, i) => {
    const at = text.lastIndexOf(":");
    const host = text.slice(0, at).replace(/^\\[|\\]$/g, "");
    return { fd: 3 + i, host, port: Number(text.slice(at + 1)), used: false };
  });
  const anyHost = (host) => host === undefined || host === null || ["", "0.0.0.0", "::"].includes(host);
  const loopback = (host) => /^(localhost|::1|127(\\.\\d+){3})$/.test(host);
  const socketsFor = (port, host) => {
    const free = sockets.filter((s) => s.port === port && !s.used);
    const exact = free.filter((s) => s.host === host);
    if (exact.length > 0) return exact;
    if (anyHost(host)) return free;
    const near = host === "localhost" ? free.filter((s) => loopback(s.host)) : [];
    return near.length > 0 ? near : free.filter((s) => s.host === "");
  };
  const servers = [];
  const listen = net.Server.prototype.listen;
  net.Server.prototype.listen = function (...args) {
    const first = args[0];
    const options = typeof first === "object" && first !== null ? first : undefined;
    if (options && (options._handle || options.handle || options.fd !== undefined || options.path)) {
      return listen.apply(this, args);
    }
    const port = options ? options.port : first;
    const isPort = typeof port === "number" || (typeof port === "string" && /^\\d+$/.test(port));
    const host = options ? options.host : typeof args[1] === "string" ? args[1] : undefined;
    const [socket, ...more] = isPort ? socketsFor(Number(port), host) : [];
    if (socket === undefined || this._handle) return listen.apply(this, args);
    socket.used = true;
    drain(this);
    for (const other of more) {
      other.used = true;
      const side = new net.Server({ pauseOnConnect: this.pauseOnConnect, allowHalfOpen: this.allowHalfOpen });
      side.on("connection", (connection) => {
        connection.server = this;
        this.emit("connection", connection);
      });
      side.on("error", (error) => this.emit("error", error));
      listen.call(side, { fd: other.fd });
      servers.push(side);
      side.unref();
      this.once("close", () => side.close());
    }
    const to = { fd: socket.fd };
    if (options && options.signal) to.signal = options.signal;
    const callback = args[args.length - 1];
    return typeof callback === "function" ? listen.call(this, to, callback) : listen.call(this, to);
  };
  const stop = env.PROCSUP_STOP_SIGNAL;
  delete env.PROCSUP_STOP_SIGNAL;
  // What an app does about the signal itself, or a library of it, is its own way to end.
  const mayDrain = () => process.listenerCount(stop) === 0;
  // A kept connection may carry its next request already: it is told to close with the next answer,
  // and closed when it has been idle this long.
  const IDLE_MS = 1000;
  const states = new Map();
  const keyOf = (socket) => socket && socket.remoteAddress + " " + socket.remotePort;
  let ending = false;
  function drain(server) {
    if (!stop) return;
    if (servers.length === 0 && mayDrain()) {
      process.on(stop, end);
      process.on("newListener", (name) => {
        if (name === stop) process.nextTick(() => process.removeListener(stop, end));
      });
    }
    servers.push(server);
    server.on("connection", (connection) => {
      const key = keyOf(connection);
      states.set(key, { connection, answers: new Set(), usedAt: Date.now() });
      connection.once("close", () => states.delete(key));
    });
    server.prependListener("request", (request, response) => {
      const state = states.get(keyOf(request.socket));
      if (state === undefined) return;
      if (ending) response.shouldKeepAlive = false;
      state.answers.add(response);
      response.once("close", () => {
        state.answers.delete(response);
        state.usedAt = Date.now();
      });
    });
  }
  function end() {
    ending = true;
    // Not http's own close(), which ends connections that were just used.
    for (const server of servers) net.Server.prototype.close.call(server);
    for (const { answers } of states.values()) {
      for (const answer of answers) if (!answer.headersSent) answer.shouldKeepAlive = false;
    }
    const look = () => {
      for (const { connection, answers, usedAt } of states.values()) {
        if (answers.size === 0 && Date.now() - usedAt >= IDLE_MS) connection.destroySoon();
      }
      if (states.size > 0) return;
      process.removeListener(stop, end);
      process.kill(pid, stop);
    };
    setInterval(look, 20);
    look();
  }
}
`;

/** The variable that makes a runtime load the preload. */
export type PreloadVariable = "NODE_OPTIONS" | "BUN_OPTIONS";

/** Signals that the preload may handle. SIGUSR1 starts Node's debugger. */
const CATCHABLE: ReadonlySet<SignalName> = new Set(["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"]);

/** Variables that load the preload at `path`, in addition to the app's own `options`. */
export function nodePreloadEnv(
  variable: PreloadVariable,
  path: string,
  { addresses, options = "", stopSignal }: {
    readonly addresses: readonly string[];
    readonly options?: string | undefined;
    /** At which servers on these addresses end without losing a request. */
    readonly stopSignal?: SignalName | undefined;
  },
): Record<string, string> {
  const quoted = /[\s"\\]/.test(path) ? `"${path.replace(/["\\]/g, "\\$&")}"` : path;
  const isBun = variable === "BUN_OPTIONS";
  // Bun splits at blanks, even quoted ones.
  if (isBun && quoted !== path) return {};
  return {
    [variable]: `${isBun ? "--preload=" : "--require "}${quoted} ${options}`.trim(),
    PROCSUP_NODE_OPTIONS: options,
    ...addresses.length > 0 && { PROCSUP_SOCKETS: addresses.join(" ") },
    ...addresses.length > 0 && stopSignal && CATCHABLE.has(stopSignal) && {
      PROCSUP_STOP_SIGNAL: stopSignal,
    },
  };
}

const written = new Set<string>();

/** Path of the preload, which is written if missing. Throws `start_failed` if that fails. */
export function nodePreload(home: string, otherUser: boolean): string {
  const path = `${otherUser ? FOR_OTHER_USERS : home}/node_preload.cjs`;
  if (written.has(path) && readFileIfAny(path) === NODE_PRELOAD) return path;
  try {
    if (otherUser) prepareForOtherUsers();
    if (readFileIfAny(path) !== NODE_PRELOAD) replaceFile(path, NODE_PRELOAD);
    if (otherUser) Deno.chmodSync(path, 0o644);
  } catch (error) {
    const why = (error as Error).message;
    throw new ProcsupError("start_failed", `Cannot write "${path}": ${why}`, { cause: error });
  }
  written.add(path);
  return path;
}
