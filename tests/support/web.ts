/** Clients for the web surface of a running daemon. */

import {
  authorizationOf,
  newKeyPair,
  type Proof,
  publicText,
  randomText,
  sharedKey,
} from "../../src/protocol/session_signature.ts";
import { TestDaemon } from "./procsup.ts";

/** A complete answer. */
export interface WebAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON. */
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** A daemon with a web listener on a free port. */
export class TestWeb implements AsyncDisposable {
  readonly daemon: TestDaemon;
  /** `http://127.0.0.1:port`. */
  url = "";
  token = "";

  private constructor(daemon: TestDaemon) {
    this.daemon = daemon;
  }

  /** Starts the daemon and its web listener. */
  static async start(): Promise<TestWeb> {
    const web = new TestWeb(await TestDaemon.start());
    await web.#listen();
    return web;
  }

  /** One for all tests of a file. The apps of each test are removed after it. */
  static ofFile(): TestWeb {
    const web = new TestWeb(TestDaemon.ofFile());
    Deno.test.beforeAll(() => web.#listen());
    return web;
  }

  async #listen(): Promise<void> {
    const { client } = this.daemon;
    ({ url: this.url } = await client.call("web_start", { listen: "127.0.0.1:0" }));
    ({ token: this.token } = await client.call("token"));
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Sends a request with the token. An empty `authorization` header omits it. */
  async ask(method: string, path: string, body?: unknown, headers = {}): Promise<WebAnswer> {
    const all = new Headers({ authorization: `Bearer ${this.token}`, ...headers });
    if (all.get("authorization") === "") all.delete("authorization");
    if (body !== undefined && !all.has("content-type")) all.set("content-type", "application/json");
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: all,
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type") === "application/json";
    const { status } = response;
    return { status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }

  /** Sends text on a new connection and returns the whole answer. */
  async raw(request: string): Promise<string> {
    using connection = await this.connect(request);
    return await new Response(connection.readable).text().catch(() => "");
  }

  /** Opens a connection and sends text on it. */
  async connect(request: string): Promise<Deno.TcpConn> {
    const connection = await Deno.connect({ port: this.port });
    const bytes = new TextEncoder().encode(request);
    for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
    return connection;
  }

  /** A request for `/ws` as text, by default with the token. */
  upgrade(headers: Record<string, string> = {}): string {
    return upgradeRequest({
      host: `127.0.0.1:${this.port}`,
      authorization: `Bearer ${this.token}`,
      ...headers,
    });
  }

  /** Opens a client of the WebSocket feed. */
  async feed(): Promise<TestFeed> {
    const socket = new WebSocket(`${this.url.replace("http", "ws")}/ws`, {
      headers: { authorization: `Bearer ${this.token}` },
    });
    const feed = new TestFeed(socket);
    await feed.opened;
    return feed;
  }

  /** Resident memory of the daemon, in bytes. */
  memory(): number {
    const status = Deno.readTextFileSync(`/proc/${this.daemon.pid}/status`);
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon[Symbol.asyncDispose]();
  }
}

/** The session of a tab: it signs requests, like the dashboard. */
export class TestSession {
  readonly url: string;
  /** The public key. */
  readonly id: string;
  readonly #key: CryptoKey;
  proof: Proof;

  private constructor(url: string, id: string, key: CryptoKey, proof: Proof) {
    this.url = url;
    this.id = id;
    this.#key = key;
    this.proof = proof;
  }

  /** Opens a session by the answer of `post` to the public key. */
  static async open(
    url: string,
    post: (key: string) => Promise<string>,
    prove: (path: string) => Promise<Proof>,
  ): Promise<TestSession> {
    const pair = await newKeyPair();
    const id = await publicText(pair);
    const key = await sharedKey(pair.privateKey, await post(id));
    const session = new TestSession(url, id, key, { epoch: "", time: 0, proof: "" });
    session.proof = await prove(session.proofPath());
    return session;
  }

  proofPath(nonce = randomText()): string {
    return `/api/v1/session/proof?key=${this.id}&nonce=${nonce}`;
  }

  /** The header of a request, which is good for once. */
  async authorization(method: string, path: string, body = ""): Promise<string> {
    const { epoch, time } = this.proof;
    const request = { method, path, body };
    return await authorizationOf(this.#key, { session: this.id, epoch, time }, request);
  }

  /** Sends a signed request. */
  async fetch(path: string, { method = "GET", body }: { method?: string; body?: string } = {}) {
    const authorization = await this.authorization(method, path, body);
    return await fetch(`${this.url}${path}`, {
      method,
      headers: { authorization, ...body !== undefined && { "content-type": "application/json" } },
      ...body !== undefined && { body },
    });
  }

  /** Opens a WebSocket as a page does. */
  async socket(): Promise<TestFeed> {
    const socket = new WebSocket(`${this.url.replace("http", "ws")}/ws`, {
      headers: { origin: new URL(this.url).origin },
    });
    const feed = new TestFeed(socket);
    await feed.opened;
    const authorization = await this.authorization("GET", "/ws");
    feed.send({ type: "session", authorization });
    return feed;
  }
}

/** Signs in by a link or a token, like the dashboard. */
export async function signIn(
  url: string,
  { link = "", token }: { readonly link?: string; readonly token?: string },
): Promise<TestSession> {
  const code = /code=([0-9a-f]+)/.exec(link)?.[1];
  const post = async (key: string) => {
    const response = await fetch(`${url}/api/v1/session`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ key, code }),
    });
    const { daemon, error } = await response.json();
    if (daemon === undefined) throw new Error(error);
    return daemon;
  };
  return await TestSession.open(url, post, async (path) => await (await fetch(url + path)).json());
}

/** A WebSocket and all messages it received. */
export class TestFeed implements Disposable {
  // deno-lint-ignore no-explicit-any
  readonly got: any[] = [];
  readonly texts: string[] = [];
  /** The close code, once closed. */
  closed: number | undefined;
  readonly opened: Promise<void>;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.opened = new Promise((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = (event) => reject(new Error((event as ErrorEvent).message));
    });
    socket.onclose = ({ code }) => this.closed = code;
    socket.onmessage = ({ data }) => {
      this.texts.push(data);
      this.got.push(JSON.parse(data));
    };
  }

  /** Messages of one type. */
  of(type: string) {
    return this.got.filter((message) => message.type === type);
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

/** A request for `/ws` as text, without empty headers. */
export function upgradeRequest(headers: Record<string, string>): string {
  const all = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": btoa("0123456789abcdef"),
    ...headers,
  };
  const lines = Object.entries(all).filter(([, value]) => value !== "");
  return `GET /ws HTTP/1.1\r\n${lines.map(([k, v]) => `${k}: ${v}\r\n`).join("")}\r\n`;
}
