/**
 * The TCP side of the web surface. The connections are accepted here, and served by node:http, which
 * closes slow and silent ones; Deno.serve has no such deadlines.
 */

import { getRequestListener } from "@hono/node-server";
import http from "node:http";
import { messageOf, ProcsupError } from "../model/errors.ts";
import { addressText, type ListenAddress } from "../model/listen_address.ts";
import type { ProcessChange } from "../model/process_change.ts";
import { accept, mostConnections } from "../platform/accept.ts";
import { webApp } from "./app.ts";
import type { Backend } from "./backend.ts";
import { ConnectionStream } from "./connection_stream.ts";
import { Connections } from "./connections.ts";
import type { WebParts } from "./context.ts";
import { Feed } from "./feed.ts";
import { refusalText, replyError } from "./reply.ts";
import type { SiteNames } from "./same_site.ts";
import { Snapshots } from "./snapshots.ts";
import { SocketServer } from "./socket_server.ts";

/** A server that listens. */
export interface WebServer {
  /** Where. */
  readonly address: ListenAddress;
  /** Whether it speaks TLS. */
  readonly isEncrypted: boolean;
  /** Sends a message to all clients of the feed that asked for events. */
  tell(message: unknown): void;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** What a server is made of. */
export interface WebServerParts extends Omit<WebParts, "snapshots"> {
  readonly names: SiteNames;
  /** How many WebSockets may be there at once. */
  readonly maxClients: number;
  /** Certificate and key, as PEM; without them it is plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

/** How long a connection may take, in milliseconds. */
const DEADLINES = {
  /** Until the headers of a request are there. */
  headersTimeout: 8000,
  /** Until all of it is there. */
  requestTimeout: 9000,
  /** Between two requests. */
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 1000,
};

const MAX_HEADER_BYTES = 16 * 1024;
/** How old a list may be when nothing is known to have changed; usage is read no more often. */
const LIST_AGE_MS = 250;

/** Listens. Throws `address_in_use`, or `bad_request` for an address that is not this machine's. */
export function openServer(address: ListenAddress, parts: WebServerParts): WebServer {
  const { backend, warn, tls } = parts;
  const snapshots = new Snapshots({
    list: () => backend.dispatch("list", undefined),
    maxAgeMs: LIST_AGE_MS,
  });
  const feed = new Feed({ backend, snapshots, warn });
  const sockets = new SocketServer({ ...parts, feed });
  const app = webApp({ ...parts, snapshots });
  const listener = getRequestListener(app.fetch, {
    // The globals are the daemon's, and its other server needs them as they are.
    overrideGlobalObjects: false,
    errorHandler: () => replyError(new ProcsupError("bad_request", "The request is malformed")),
  });
  const server = httpServer(listener);
  server.on("upgrade", (request, socket, head) => void sockets.upgrade(request, socket, head));
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
  const stop = onChanges(backend, (change) => {
    snapshots.invalidate();
    feed.changed(change);
  });
  return {
    address: { ...address, port },
    isEncrypted: tls !== undefined,
    tell: (message) => feed.tell(message),
    async close() {
      stop();
      listening.close();
      feed.close();
      server.close();
      await Promise.all([accepting, connections.close()]);
    },
  };
}

function httpServer(listener: http.RequestListener): http.Server {
  const options = {
    ...DEADLINES,
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false,
    // Clients that offer HTTP/2 (`Upgrade: h2c`) are answered in HTTP/1.1.
    shouldUpgradeCallback: ({ headers }: http.IncomingMessage) =>
      headers.upgrade?.toLowerCase() === "websocket",
  };
  const server = http.createServer(options, (request, response) => {
    if (request.headers.host) return listener(request, response);
    // Before anything is made of it: a request without a Host has no URL.
    response.writeHead(403, { "content-type": "application/json", connection: "close" });
    response.end('{"error":"This Host is not served here","code":"forbidden"}');
  });
  // It does not listen itself. As if it did, it looks for connections that are too slow, and keeps
  // those that have been answered.
  Object.defineProperty(server, "listening", { value: true });
  server.emit("listening");
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    const timeout = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    const reason = timeout ? "The request took too long" : "The request is malformed";
    socket.end(refusalText(timeout ? 408 : 400, { error: reason, code: "bad_request" }));
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
      hint: "procsup web start --listen 127.0.0.1:0 takes a free port",
    });
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return new ProcsupError("forbidden", `${cannot}: not permitted`);
  }
  return new ProcsupError("bad_request", `${cannot}: ${messageOf(error)}`);
}

/** Calls `act` with all news from now on; returns its undoing. */
function onChanges(backend: Backend, act: (change: ProcessChange) => void): () => void {
  const over = new AbortController();
  const run = async () => {
    // A stream that fell behind is ended; the next one begins with what happens then.
    while (!over.signal.aborted) {
      for await (const change of backend.events(over.signal)) act(change);
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  void run();
  return () => over.abort();
}
