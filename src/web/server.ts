/**
 * The TCP server of the web surface. Connections are accepted here and served by node:http, which has
 * deadlines for slow and silent ones; Deno.serve has none.
 */

import { getRequestListener } from "@hono/node-server";
import { Buffer } from "node:buffer";
import http from "node:http";
import { Duplex } from "node:stream";
import { messageOf, ProcsupError } from "../model/errors.ts";
import { addressText, type ListenAddress } from "../model/listen_address.ts";
import type { ProcessChange } from "../model/process_info.ts";
import { accept, mostConnections } from "../platform/sockets/accept.ts";
import { webApp } from "./app.ts";
import { type Backend, CachedList } from "./backend.ts";
import { type Connection, Connections } from "./connections.ts";
import type { WebParts } from "./context.ts";
import { Feed } from "./feed.ts";
import { publicError, refusalText, replyError } from "./reply.ts";
import { type SiteNames, unknownHost } from "./same_site.ts";
import { SocketServer } from "./socket_server.ts";
import type { TrustedProxies } from "./trusted_proxies.ts";

export interface WebServer {
  readonly address: ListenAddress;
  readonly isEncrypted: boolean;
  /** Sends a message to all clients that subscribed to events. */
  publish(message: unknown): void;
  /** Stops listening. Resolves when the port is free. */
  stop(): Promise<void>;
  /**
   * Stops listening and closes all connections. A request that has no answer yet gets it, if that
   * comes within `answerMs`; by default within a moment.
   */
  close(answerMs?: number): Promise<void>;
}

interface WebServerParts extends Omit<WebParts, "cachedList"> {
  readonly names: SiteNames;
  readonly proxies: TrustedProxies;
  readonly basePath: string;
  /** Maximum number of WebSockets. */
  readonly maxClients: number;
  /** Certificate and key as PEM; plain HTTP without them. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

/** Deadlines of connections, in milliseconds. */
const DEADLINES = {
  /** For the headers of a request. */
  headersTimeout: 8000,
  /** Timeout of a whole request. */
  requestTimeout: 9000,
  /** Between two requests. */
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 1000,
};

const MAX_HEADER_BYTES = 16 * 1024;

/** Starts a server. Throws `address_in_use`, or `bad_request` for an address of another machine. */
export function openServer(address: ListenAddress, parts: WebServerParts): WebServer {
  const { backend, warn, tls, basePath } = parts;
  const cachedList = new CachedList(backend);
  const feed = new Feed({ backend, warn });
  const sockets = new SocketServer({ ...parts, feed });
  const app = webApp({ ...parts, cachedList });
  const listener = getRequestListener(app.fetch, {
    // The daemon's other server needs the global objects unchanged.
    overrideGlobalObjects: false,
    errorHandler: () => replyError(new ProcsupError("bad_request", "The request is malformed")),
  });
  const server = httpServer(basePath, listener);
  server.on("upgrade", (request, socket, head) => {
    request.url = belowBase(request.url, basePath);
    void sockets.upgrade(request, socket, head);
  });
  const unanswered = new Set<http.ServerResponse>();
  server.on("request", (_, response) => {
    unanswered.add(response);
    response.on("close", () => unanswered.delete(response));
  });
  const connections = new Connections(mostConnections());
  const listening = listen(address, tls);
  const { port } = listening.addr;
  const accepting = accept<Deno.TcpConn | Deno.TlsConn>(listening, {
    take(accepted) {
      const connection = new ConnectionStream(accepted);
      connections.add(connection);
      server.emit("connection", connection);
    },
    full: () => connections.endHalf(),
    warn: (message) => warn(`Web: ${message}`),
  });
  const ignoreChanges = onChanges(backend, (change) => {
    cachedList.invalidate();
    feed.changed(change);
  });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    if (stopped === undefined) listening.close();
    return stopped ??= accepting;
  };
  return {
    address: { ...address, port },
    isEncrypted: tls !== undefined,
    publish: (message) => feed.publish(message),
    stop,
    async close(answerMs) {
      await stop();
      ignoreChanges();
      feed.close();
      server.close();
      await connections.close(lastAnswers(unanswered), answerMs);
    },
  };
}

/** The connections whose answer has not begun. Each closes after it. */
function lastAnswers(responses: Iterable<http.ServerResponse>): Set<Connection> {
  const waiting = [...responses].filter(({ headersSent }) => !headersSent);
  for (const response of waiting) response.shouldKeepAlive = false;
  return new Set(waiting.map(({ req }) => req.socket));
}

/**
 * The target of a request without the base path. Proxies pass it on or remove it; routes and signatures
 * are the same with and without it.
 */
function belowBase(target = "/", basePath: string): string {
  if (basePath === "" || !target.startsWith(basePath)) return target;
  const rest = target.slice(basePath.length);
  return /^[/?]/.test(rest) || rest === "" ? rest : target;
}

function httpServer(basePath: string, listener: http.RequestListener): http.Server {
  const options = {
    ...DEADLINES,
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false,
    // Offers of HTTP/2 (`Upgrade: h2c`) are answered with HTTP/1.1.
    shouldUpgradeCallback: ({ headers }: http.IncomingMessage) =>
      headers.upgrade?.toLowerCase() === "websocket",
  };
  const server = http.createServer(options, (request, response) => {
    if (!request.headers.host) {
      // Refuse it here: without a Host the request has no URL.
      response.writeHead(403, { "content-type": "application/json", connection: "close" });
      return response.end(JSON.stringify(publicError(unknownHost(undefined))));
    }
    request.url = belowBase(request.url, basePath);
    if (!/^(\?|$)/.test(request.url)) return listener(request, response);
    // The links of the page are relative to its folder.
    response.writeHead(308, { location: `${basePath}/${request.url}` }).end();
  });
  // The server does not listen itself. Pretend it does: otherwise it would not check for slow
  // connections, nor keep connections alive.
  Object.defineProperty(server, "listening", { value: true });
  server.emit("listening");
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    const timeout = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    const reason = timeout ? "The request took too long" : "The request is malformed";
    socket.end(refusalText(new ProcsupError("bad_request", reason), timeout ? 408 : 400));
  });
  return server;
}

function listen(
  { hostname, port }: ListenAddress,
  tls: WebServerParts["tls"],
): Deno.TcpListener | Deno.TlsListener {
  try {
    if (tls === undefined) return Deno.listen({ hostname, port });
    return Deno.listenTls({ hostname, port, ...tls, alpnProtocols: ["http/1.1"] });
  } catch (error) {
    throw listenError({ hostname, port }, error);
  }
}

function listenError(address: ListenAddress, error: unknown): ProcsupError {
  const cannot = `Cannot listen on "${addressText(address)}"`;
  if (error instanceof Deno.errors.AddrInUse) {
    return new ProcsupError("address_in_use", `${cannot}: another program listens there`, {
      hint: {
        text: "Let the system choose a free port",
        command: { verb: "web start", flags: { listen: "127.0.0.1:0" } },
      },
    });
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    const hint = {
      text: "Take a port from 1024 on, and a proxy for lower ones",
      command: { verb: "help", target: "proxy" },
    };
    return new ProcsupError("forbidden", `${cannot}: not permitted`, { hint });
  }
  return new ProcsupError("bad_request", `${cannot}: ${messageOf(error)}`);
}

/** Calls `act` with all events from now on. Returns a function that stops it. */
function onChanges(backend: Backend, act: (change: ProcessChange) => void): () => void {
  const over = new AbortController();
  const run = async () => {
    // A stream that fell behind ends. Open another one.
    while (!over.signal.aborted) {
      for await (const change of backend.events(over.signal)) act(change);
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  void run();
  return () => over.abort();
}

const READ_BYTES = 8 * 1024;

type Done = (error?: Error | null) => void;

/** An accepted connection as a stream, with the parts of a `Socket` that node:http and ws use. */
class ConnectionStream extends Duplex implements Connection {
  readonly remoteAddress: string;
  readonly encrypted: boolean;
  readonly #connection: Deno.Conn;
  readonly #buffer = new Uint8Array(READ_BYTES);
  #sent = 0;
  #idleMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(connection: Deno.TcpConn | Deno.TlsConn) {
    super({ allowHalfOpen: true });
    this.#connection = connection;
    this.encrypted = "handshake" in connection;
    this.remoteAddress = connection.remoteAddr.hostname;
  }

  /** Bytes written so far, including those that wait. */
  get bytesWritten(): number {
    return this.#sent + this.writableLength;
  }

  /** Emits `timeout` if nothing arrives for `ms`; 0 disables it. */
  setTimeout(ms: number, act?: () => void): this {
    if (act !== undefined) this.once("timeout", act);
    this.#idleMs = ms;
    this.#restartTimer();
    return this;
  }

  /** Ends the connection after everything written was sent. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  override _read(): void {
    this.#connection.read(this.#buffer).then((size) => {
      if (this.#idleMs > 0) this.#restartTimer();
      this.push(size === null ? null : this.#buffer.slice(0, size));
    }).catch((error) => this.destroy(error));
  }

  override _write(bytes: Uint8Array, _encoding: string, done: Done): void {
    this.#send(bytes).then(() => done(), done);
  }

  override _writev(all: { chunk: Uint8Array }[], done: Done): void {
    this.#send(Buffer.concat(all.map(({ chunk }) => chunk))).then(() => done(), done);
  }

  override _final(done: Done): void {
    this.#connection.closeWrite().then(() => done(), () => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    clearTimeout(this.#timer);
    this.#connection.close();
    done(error);
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const size = await this.#connection.write(bytes.subarray(at));
      at += size;
      this.#sent += size;
    }
  }

  #restartTimer(): void {
    clearTimeout(this.#timer);
    const { destroyed } = this;
    this.#timer = this.#idleMs > 0 && !destroyed
      ? setTimeout(() => this.emit("timeout"), this.#idleMs)
      : undefined;
  }
}
