/** `/ws`: lets WebSockets in, and joins them to the feed. */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { ERROR_TABLE, ProcsupError } from "../model/errors.ts";
import type { Feed } from "./feed.ts";
import type { FeedSocket } from "./feed_client.ts";
import { allow, type Gatekeeper } from "./gatekeeper.ts";
import { Outbox } from "./outbox.ts";
import { toldError } from "./reply.ts";
import type { Principal } from "./roles.ts";
import type { SiteNames } from "./same_site.ts";

const MAX_MESSAGE_BYTES = 64 * 1024;
/** How long the other side may take to say goodbye. */
const CLOSE_MS = 2000;

/** What it takes to let one in. */
export interface SocketParts {
  readonly feed: Feed;
  readonly gatekeeper: Gatekeeper;
  readonly names: SiteNames;
  /** How many may be there at once. */
  readonly maxClients: number;
}

/** Takes upgrade requests. */
export class SocketServer {
  readonly #parts: SocketParts;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
    closeTimeout: CLOSE_MS,
  });

  constructor(parts: SocketParts) {
    this.#parts = parts;
  }

  /** Upgrades a request, or refuses it in plain HTTP. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Uint8Array): Promise<void> {
    socket.on("error", () => socket.destroy());
    let principal: Principal;
    try {
      principal = await this.#check(request);
    } catch (error) {
      refuse(socket, error);
      return;
    }
    if (socket.destroyed) return;
    this.#server.handleUpgrade(request, socket, head, (ws) => this.#join(ws, principal));
  }

  async #check({ headers, method, url, socket }: IncomingMessage): Promise<Principal> {
    const { names, gatekeeper, feed, maxClients } = this.#parts;
    const { host, origin } = headers;
    names.check({ host, origin, fetchSite: text(headers["sec-fetch-site"]) }, false);
    if (url?.split("?")[0] !== "/ws" || method !== "GET") {
      throw new ProcsupError("not_found", "No such path");
    }
    const principal = await gatekeeper.identify({
      authorization: headers.authorization,
      cookie: headers.cookie,
      address: socket.remoteAddress ?? "local",
    });
    allow(principal, "list");
    if (feed.size >= maxClients) {
      throw new ProcsupError("too_many_clients", `There are ${maxClients} WebSockets already`);
    }
    return principal;
  }

  #join(ws: WebSocket, principal: Principal): void {
    const { feed, gatekeeper } = this.#parts;
    const { receive, left } = feed.join(feedSocket(ws));
    const undo = gatekeeper.whenEnded(principal, () => {
      left();
      ws.close(1008, "signed out");
    });
    ws.on("message", (data, isBinary) => {
      if (isBinary) ws.close(1003, "text is expected");
      else receive(String(data));
    });
    // What went wrong was told to the other side by its close code.
    ws.on("error", () => {});
    ws.on("close", () => {
      undo();
      left();
    });
  }
}

function feedSocket(ws: WebSocket): FeedSocket {
  const outbox = new Outbox((message, done) => ws.send(message, { binary: false }, done));
  let answered = true;
  ws.on("pong", () => answered = true);
  return {
    send: (message) => ws.readyState === ws.OPEN ? outbox.send(message) : undefined,
    unsent: () => outbox.unsent,
    ping() {
      const alive = answered;
      answered = false;
      if (alive && ws.readyState === ws.OPEN) ws.ping();
      return alive;
    },
    close(code, reason) {
      if (code === 1006) return ws.terminate();
      outbox.flush();
      ws.close(code, reason);
    },
  };
}

function refuse(socket: Duplex, error: unknown): void {
  const { error: message, code } = toldError(error);
  const body = JSON.stringify({ error: message, code });
  const head = [
    `HTTP/1.1 ${ERROR_TABLE[code].http} ${code}`,
    "Content-Type: application/json",
    `Content-Length: ${new TextEncoder().encode(body).length}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function text(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.[0];
}
