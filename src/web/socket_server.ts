/** `/ws`: accepts WebSockets and adds them to the feed. */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
// @ts-types="./ws.d.ts"
import { Sender, type WebSocket, WebSocketServer } from "ws";
import { hasCode, ifPossible, ProcsupError } from "../model/errors.ts";
import { parseJson } from "../verbs/read_input.ts";
import { claim } from "./connections.ts";
import type { Feed } from "./feed.ts";
import type { FeedSocket } from "./feed_client.ts";
import { allowRole, type Gatekeeper, type Principal } from "../auth/gatekeeper.ts";
import { publicError, refusalText } from "./reply.ts";
import { deflatedMessage, joined, lengthOf, type SharedMessage } from "./shared_message.ts";
import type { SiteNames } from "./same_site.ts";
import { placeToFree } from "../auth/sessions.ts";
import type { TrustedProxies } from "./trusted_proxies.ts";

const MAX_MESSAGE_BYTES = 64 * 1024;
/** Time for the other side to answer a close. */
const CLOSE_MS = 2000;
/** Time for a browser to prove its session, and the maximum of browsers that have not. */
const PROOF_MS = 5000;
const MAX_UNPROVEN = 64;
/** A token may have a quarter of all WebSockets, and at least this many. */
const LEAST_FOR_TOKEN = 8;
/** Close codes of RFC 6455. */
const [POLICY, TRY_AGAIN_LATER] = [1008, 1013];

interface SocketParts {
  readonly feed: Feed;
  readonly gatekeeper: Gatekeeper;
  readonly names: SiteNames;
  readonly proxies: TrustedProxies;
  /** Maximum number of clients. */
  readonly maxClients: number;
}

export class SocketServer {
  readonly #parts: SocketParts;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    // Only our own frames are compressed.
    perMessageDeflate: {
      serverNoContextTakeover: true,
      clientNoContextTakeover: true,
      serverMaxWindowBits: false,
      threshold: Infinity,
    },
    clientTracking: false,
    closeTimeout: CLOSE_MS,
  });
  /** Accepted clients with their accounts, the oldest first. */
  readonly #clients = new Map<WebSocket, string>();
  readonly #unproven = new Set<WebSocket>();

  constructor(parts: SocketParts) {
    this.#parts = parts;
  }

  /** Upgrades a request, or refuses it with an HTTP error. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Uint8Array): Promise<void> {
    socket.on("error", () => socket.destroy());
    try {
      const principal = await this.#check(request);
      if (socket.destroyed) return;
      if (principal !== undefined) this.#admit(principal, request.socket);
      this.#server.handleUpgrade(request, socket, head, (ws) => {
        if (principal === undefined) this.#prove(ws, request);
        else this.#join(ws, principal, request.socket);
      });
    } catch (error) {
      socket.end(refusalText(error));
    }
  }

  /** Identifies the client; undefined for a browser that must still prove its session. */
  async #check({ headers, method, url, socket }: IncomingMessage): Promise<Principal | undefined> {
    const { names, proxies, gatekeeper } = this.#parts;
    const { origin } = headers;
    const peer = addressOf(socket);
    const fetchSite = text(headers["sec-fetch-site"]);
    names.check({ host: proxies.hostOf(peer, headers), origin, fetchSite }, false);
    if (url?.split("?")[0] !== "/ws" || method !== "GET") {
      throw new ProcsupError("not_found", "No such path");
    }
    const { authorization } = headers;
    // Pages cannot add headers to a WebSocket: they sign their first message. Others send a token.
    if (authorization === undefined && origin !== undefined) return undefined;
    return await gatekeeper.identify({ authorization, address: proxies.clientOf(peer, headers) });
  }

  /** Checks role and limit. Throws `forbidden` or `too_many_clients`. */
  #admit(principal: Principal, connection: object): void {
    allowRole(principal, "read");
    claim(connection, principal);
    const { maxClients } = this.#parts;
    const { account } = principal;
    const own = [...this.#clients.values()].filter((one) => one === account).length;
    if (account !== "" && own >= Math.max(LEAST_FOR_TOKEN, maxClients / 4)) {
      throw new ProcsupError("too_many_clients", `Token "${account}" has ${own} WebSockets open`);
    }
    if (this.#clients.size < maxClients) return;
    const other = placeToFree(this.#clients, account);
    if (other === undefined) {
      throw new ProcsupError("too_many_clients", `Too many WebSockets: limit ${maxClients}`);
    }
    this.#clients.delete(other);
    other.close(TRY_AGAIN_LATER, "too many WebSockets");
  }

  #prove(ws: WebSocket, { socket, headers }: IncomingMessage): void {
    const [oldest] = this.#unproven;
    if (this.#unproven.size >= MAX_UNPROVEN) oldest!.terminate();
    this.#unproven.add(ws);
    const timer = setTimeout(() => ws.close(POLICY, "not signed in"), PROOF_MS);
    const over = () => {
      clearTimeout(timer);
      this.#unproven.delete(ws);
    };
    ws.on("error", () => {});
    ws.once("close", over);
    // Messages that arrive while the first one is checked.
    const early: [data: unknown, isBinary: boolean][] = [];
    ws.on("message", (...message) => early.push(message));
    ws.once("message", async (data, isBinary) => {
      over();
      try {
        const authorization = isBinary ? undefined : signatureIn(String(data));
        const address = this.#parts.proxies.clientOf(addressOf(socket), headers);
        const request = { method: "GET", path: "/ws" };
        const principal = await this.#parts.gatekeeper.identify({
          authorization,
          address,
          request,
        });
        if (ws.readyState !== ws.OPEN) return;
        this.#admit(principal, socket);
        this.#join(ws, principal, socket, early.slice(1));
      } catch (error) {
        if (hasCode(error, "unauthorized")) ws.close(POLICY, "not signed in");
        else ws.close(TRY_AGAIN_LATER, publicError(error).error);
      }
    });
  }

  #join(
    ws: WebSocket,
    principal: Principal,
    socket: Duplex,
    early: readonly (readonly [data: unknown, isBinary: boolean])[] = [],
  ): void {
    const { feed, gatekeeper } = this.#parts;
    this.#clients.set(ws, principal.account);
    const { receive, left } = feed.join(feedSocket(ws, socket), principal);
    const undo = gatekeeper.whenRevoked(principal, () => {
      left();
      ws.close(POLICY, "signed out");
    });
    const take = (data: unknown, isBinary: boolean) => {
      if (isBinary) ws.close(1003, "text is expected");
      else receive(String(data));
    };
    for (const message of early) take(...message);
    ws.removeAllListeners("message");
    ws.on("message", take);
    // The close code has told the client the reason.
    ws.on("error", () => {});
    ws.on("close", () => {
      this.#clients.delete(ws);
      undo();
      left();
    });
  }
}

/** The frame of a compressed text. */
const DEFLATED = { fin: true, rsv1: true, opcode: 1, mask: false, readOnly: true };

function feedSocket(ws: WebSocket, socket: Duplex): FeedSocket {
  const deflates = ws.extensions.includes("permessage-deflate");
  // `ws` sends at once what it does not compress: its frames and these keep their order.
  const sender = new Sender(socket);
  const outbox = new SocketOutbox((message, done) => {
    if (typeof message !== "string" && message.isDeflated) {
      return sender.sendFrame(Sender.frame(joined(message), DEFLATED), done);
    }
    const data = typeof message === "string" ? message : joined(message);
    ws.send(data, { binary: false }, done);
  });
  let answered = true;
  ws.on("pong", () => answered = true);
  return {
    send(message) {
      if (ws.readyState !== ws.OPEN) return;
      outbox.send(typeof message === "string" || !deflates ? message : deflatedMessage(message));
    },
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

/** The signature in `{type: "session", authorization}`; undefined if missing. */
function signatureIn(message: string): string | undefined {
  const { type, authorization } = Object(ifPossible(() => parseJson(message)));
  return type === "session" && typeof authorization === "string" ? authorization : undefined;
}

function addressOf({ remoteAddress }: { readonly remoteAddress?: string | undefined }): string {
  return remoteAddress ?? "local";
}

function text(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.[0];
}

export type Message = string | SharedMessage;

/** Sends a message, and calls `done` when it is sent, or with the error. */
export type Write = (message: Message, done: (failure?: unknown) => void) => void;

/** While more bytes than this are being sent, further messages wait. */
const ENOUGH_UNDER_WAY = 2 * 1024;

/** Overhead of a waiting message in bytes, which matters for thousands of small ones. */
const BESIDE = 128;

/**
 * Passes messages on a few at a time. A socket's own queue copies each message and adds some
 * hundred bytes, which is too much with hundreds of slow clients. The messages waiting here are
 * shared by all clients.
 */
export class SocketOutbox {
  readonly #write: Write;
  #waiting: Message[] = [];
  #underWay = 0;
  #unsent = 0;

  constructor(write: Write) {
    this.#write = write;
  }

  /** Cost of the messages that are not sent yet, in bytes (for text, UTF-16 units). */
  get unsent(): number {
    return this.#unsent;
  }

  send(message: Message): void {
    this.#unsent += costOf(message);
    this.#waiting.push(message);
    this.#handOn();
  }

  /** Passes on all waiting messages. */
  flush(): void {
    this.#handOn(Infinity);
  }

  #handOn(enough = ENOUGH_UNDER_WAY): void {
    while (this.#underWay <= enough && this.#waiting.length > 0) {
      const message = this.#waiting.shift()!;
      const cost = costOf(message);
      this.#underWay += cost;
      this.#write(message, (failure) => this.#done(cost, failure));
    }
  }

  #done(cost: number, failure: unknown): void {
    this.#underWay -= cost;
    this.#unsent -= cost;
    // The connection failed: drop the rest, since trying each message takes seconds for a hundred
    // clients.
    if (failure) this.#waiting = [];
    this.#handOn();
  }
}

function costOf(message: Message): number {
  return (typeof message === "string" ? message.length : lengthOf(message)) + BESIDE;
}
