/**
 * Clients with new and with kept connections. What fails is told from what a bad release spoils. A
 * request is sent again, once, if its connection ends before the first byte of the answer: a kept
 * one, and a new one too where instances have ports of their own, as proxies do: the queue of a socket
 * that closes is lost.
 */

import { sleep } from "../../src/platform/clock.ts";
import { lookAt } from "../../src/platform/files/stat.ts";

/** What the clients saw. */
export interface LoadResult {
  readonly requests: number;
  /** Why requests failed that no bad release had accepted. */
  readonly failed: readonly string[];
  /** Requests that were sent again. */
  readonly retried: number;
  /** Requests that a bad release answered with an error, or not at all. */
  readonly bad: number;
  /** When the last of them began, in steady milliseconds. */
  readonly lastBadAt: number;
  /** The instances that answered with an error. */
  readonly badInstances: ReadonlySet<string>;
  /** The longest time to an answer. */
  readonly longestMs: number;
}

const CLIENTS = 3;
const REST_MS = 40;

/** Time for an answer. A client waits while the only instance is replaced and rolled back. */
const LIMIT_MS = 20_000;

/** Sends requests to ports, on which instances come and go, until stopped. */
export class ReleaseLoad {
  readonly #ports: readonly number[];
  readonly #accepted: string;
  readonly #isShared: boolean;
  readonly #clients: Promise<void>[];
  #isOver = false;
  #requests = 0;
  #retried = 0;
  #bad = 0;
  #lastBadAt = 0;
  #longestMs = 0;
  readonly #badInstances = new Set<string>();
  readonly #failures: { readonly why: string; readonly port: number; readonly at: number }[] = [];

  /** `accepted` is the file in which a bad release notes the ports of its clients. */
  constructor(ports: readonly number[], accepted: string, isShared: boolean) {
    this.#ports = ports;
    this.#isShared = isShared;
    this.#accepted = accepted;
    const kinds = [false, true].flatMap((isKept) => Array(CLIENTS).fill(isKept) as boolean[]);
    this.#clients = kinds.map((isKept) => this.#client(isKept));
  }

  async stop(): Promise<LoadResult> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    const text = lookAt(this.#accepted) === undefined ? "" : Deno.readTextFileSync(this.#accepted);
    const accepted = new Set(text.split("\n").filter(Boolean).map(Number));
    const spoiled = this.#failures.filter(({ port }) => accepted.has(port));
    const failed = this.#failures.filter(({ port }) => !accepted.has(port));
    return {
      requests: this.#requests,
      failed: failed.map(({ why }) => why),
      retried: this.#retried,
      bad: this.#bad + spoiled.length,
      lastBadAt: Math.max(this.#lastBadAt, ...spoiled.map(({ at }) => at)),
      badInstances: this.#badInstances,
      longestMs: this.#longestMs,
    };
  }

  async #client(isKept: boolean): Promise<void> {
    let kept: Connection | undefined;
    while (!this.#isOver) {
      this.#requests++;
      kept = await this.#request(isKept, kept);
      await sleep(REST_MS * Math.random() * 2);
    }
    kept?.close();
  }

  async #request(isKept: boolean, kept?: Connection): Promise<Connection | undefined> {
    const at = performance.now();
    let connection = kept;
    try {
      connection ??= await this.#connect();
      let answer = await connection.ask(isKept);
      if (answer === undefined && (connection === kept || !this.#isShared)) {
        this.#retried++;
        connection.close();
        connection = await this.#connect();
        answer = await connection.ask(isKept);
      }
      if (answer === undefined) throw new Error("closed without an answer");
      this.#longestMs = Math.max(this.#longestMs, performance.now() - at);
      if (answer.status !== 200) {
        this.#bad++;
        this.#lastBadAt = at;
        this.#badInstances.add(answer.body.split(" ")[1]!);
      }
      if (isKept && !answer.isLast) return connection;
    } catch (error) {
      const why = `${(error as Error).message} after ${Math.round(performance.now() - at)} ms`;
      this.#failures.push({ why, port: connection?.port ?? 0, at });
    }
    connection?.close();
    return undefined;
  }

  /** To any of the ports, like a client of a proxy: one that refuses is passed over. */
  async #connect(): Promise<Connection> {
    const from = Math.floor(Math.random() * this.#ports.length);
    const ports = [...this.#ports.slice(from), ...this.#ports.slice(0, from)];
    let problem: unknown;
    for (const port of ports) {
      try {
        return new Connection(await Deno.connect({ hostname: "127.0.0.1", port }));
      } catch (error) {
        problem = error;
      }
    }
    throw problem;
  }
}

interface Answer {
  readonly status: number;
  readonly body: string;
  /** Whether the server closes the connection. */
  readonly isLast: boolean;
}

class Connection {
  readonly #connection: Deno.TcpConn;
  #isClosed = false;

  constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  get port(): number {
    return this.#connection.localAddr.port;
  }

  /** The answer to a request; undefined if the connection was closed before any byte of it. */
  async ask(isKept: boolean): Promise<Answer | undefined> {
    const close = isKept ? "" : "Connection: close\r\n";
    const request = `GET / HTTP/1.1\r\nHost: localhost\r\n${close}\r\n`;
    const timer = setTimeout(() => this.close(), LIMIT_MS);
    let text = "";
    try {
      await this.#connection.write(new TextEncoder().encode(request));
      const piece = new Uint8Array(4096);
      for (let length; (length = await this.#connection.read(piece)) !== null;) {
        text += new TextDecoder().decode(piece.subarray(0, length));
        const answer = parse(text);
        if (answer !== undefined) return answer;
      }
      return undefined;
    } catch (error) {
      if (this.#isClosed) throw new Error("no answer");
      if (text === "" && error instanceof Error && /reset|broken pipe/i.test(error.message)) {
        return undefined;
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    if (!this.#isClosed) this.#connection.close();
    this.#isClosed = true;
  }
}

function parse(text: string): Answer | undefined {
  const [head, body] = text.split("\r\n\r\n", 2);
  if (body === undefined) return undefined;
  const length = Number(/^content-length: (\d+)/im.exec(head!)?.[1]);
  if (body.length < length) return undefined;
  return {
    status: Number(head!.slice(9, 12)),
    body,
    isLast: /^connection: close/im.test(head!),
  };
}
