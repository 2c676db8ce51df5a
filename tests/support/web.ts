/** Clients for the web surface of a running daemon. */

import { SECRET_HEADER } from "../../src/protocol/version.ts";
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
  readonly url: string;
  readonly port: number;
  readonly token: string;

  private constructor(daemon: TestDaemon, url: string, token: string) {
    this.daemon = daemon;
    this.url = url;
    this.port = Number(new URL(url).port);
    this.token = token;
  }

  /** Starts the daemon and its web listener. */
  static async start(): Promise<TestWeb> {
    const daemon = await TestDaemon.start();
    const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
    const { token } = await daemon.client.call("token");
    return new TestWeb(daemon, url, token);
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

/** Signs in by a link or a token, like the dashboard. Returns the headers of further requests. */
export async function signIn(
  url: string,
  { link = "", token }: { readonly link?: string; readonly token?: string },
): Promise<Record<string, string>> {
  const code = /code=([0-9a-f]+)/.exec(link)?.[1];
  const response = await fetch(`${url}/api/v1/session`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(code === undefined ? {} : { code }),
  });
  const { secret } = await response.json();
  const cookie = response.headers.getSetCookie()[0]!.split(";")[0]!;
  return { cookie, [SECRET_HEADER]: secret };
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
