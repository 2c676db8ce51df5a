/** A fake daemon, and the web surface on top of it. */

import { webMounts } from "../../src/daemon/web_backend.ts";
import { readRequest } from "../../src/verbs/mod.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { notFound } from "../../src/model/target.ts";
import type { ProcessChange } from "../../src/model/process_info.ts";
import { webApp } from "../../src/web/app.ts";
import { Gatekeeper, SignInRateLimit } from "../../src/auth/gatekeeper.ts";
import type { Backend, LogLines } from "../../src/web/backend.ts";
import type { WebApp } from "../../src/web/context.ts";
import { NamedTokens } from "../../src/auth/named_tokens.ts";
import { openServer, type WebServer } from "../../src/web/server.ts";
import { SiteNames } from "../../src/web/same_site.ts";
import { TrustedProxies } from "../../src/web/trusted_proxies.ts";
import { type SessionOwner, Sessions } from "../../src/auth/sessions.ts";
import { TestSession } from "../support/web.ts";
import { ShutdownNotice } from "../../src/protocol/shutdown_notice.ts";
import { fakeProcess } from "../cli/fake_daemon.ts";
import { tempHome } from "../support/temp_home.ts";

/** The daemon's own token in these tests. */
export const TOKEN = "f".repeat(64);

/** The fake daemon's answers by verb: data, or a function that throws. */
export type Answers = Readonly<Record<string, (payload: never) => unknown>>;

/** A verb on one process called `api`. */
export function done(status: string) {
  return { status, results: [{ name: "api", id: "1f3a9c00", ok: true, state: "running", pid: 1 }] };
}

const USUAL: Answers = {
  list: () => [fakeProcess()],
  status: (payload: { target: string }) => {
    if (payload.target !== "api") throw notFound(payload.target, []);
    return fakeProcess();
  },
  webhook_list: () => [],
  alerts: () => [
    { name: ".host", when: 'load > "8"', state: "firing", since: null, value: "9" },
  ],
  cron_list: () => [],
  add: () => ({ ...fakeProcess(), results: done("started").results }),
  start: () => ({ ...fakeProcess(), results: done("started").results }),
  stop: () => done("stopped"),
  restart: () => done("restarted"),
  reload: () => done("reloaded"),
  delete: () => done("deleted"),
  signal: () => done("signalled"),
  scale: () => done("scaled"),
  flush: () => done("flushed"),
  reconfigure: () => ({ ...done("reloaded"), rolled_back: false, restarted: true, changes: [] }),
  rolling_reload: () => ({ ...done("reloaded"), rolled_back: false }),
  logs: (payload: { lines: number }) => ({ logs: "", path: "/x", lines: String(payload.lines) }),
  ping: () => ({ status: "ok", version: "0", protocol: 1 }),
  system_metrics: () => ({
    daemon: { memory_bytes: 1, uptime_seconds: 2, releases: { done: 3, rolled_back: 0 } },
  }),
};

/** Log lines as a daemon streams them. */
export function linesOf(lines: readonly unknown[]): ReadableStream<LogLines> {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  return ReadableStream.from([{ ndjson: new TextEncoder().encode(text) }]);
}

/** The owner of the daemon, as the owner of a session. */
export const OWNER: SessionOwner = { name: "dashboard", role: "admin" };

/** The web surface over a fake daemon. */
export class FakeWeb implements AsyncDisposable {
  /** Every verb that was performed, with its input. */
  readonly calls: [string, unknown][] = [];
  readonly app: WebApp;
  readonly backend: Backend;
  readonly sessions: Sessions;
  readonly tokens: NamedTokens;
  readonly gatekeeper: Gatekeeper;
  readonly #home = tempHome();
  #changes: ReadableStreamDefaultController<ProcessChange> | undefined;
  /** Aborted once nobody wants events any more. */
  changesOver: AbortSignal | undefined;

  constructor(answers: Answers = {}, clock: Clock = systemClock) {
    const all = { ...USUAL, ...answers };
    this.backend = {
      as: () => this.backend,
      only: undefined,
      dispatch: async (verb, payload) => {
        const { name, input } = readRequest(verb, payload);
        this.calls.push([name, input]);
        return await all[name]?.(input as never);
      },
      events: (over) => {
        this.changesOver = over;
        return new ReadableStream({ start: (out) => void (this.#changes = out) });
      },
      streamEvents: () => Promise.resolve(this.backend.events()),
      shutdownNotice: new ShutdownNotice(),
      cpuSeconds: () => new Map([["1f3a9c00", 12.5]]),
      matcher: (target) => ({ name }) => target === "all" || name === target,
      streamTerminal: () => Promise.resolve(new ReadableStream()),
      streamLogs: (query) =>
        Promise.resolve(linesOf([
          { name: query.target[0], line: "<b>" },
          // A character that ends a line for JavaScript's `.` only.
          { name: query.target[0], line: "one\u2028still one" },
        ])),
    };
    this.sessions = new Sessions(clock);
    this.tokens = new NamedTokens(`${this.#home.path}/tokens.json`);
    this.gatekeeper = new Gatekeeper({
      isOwner: (authorization) => authorization === `Bearer ${TOKEN}`,
      tokens: this.tokens,
      sessions: this.sessions,
      attempts: new SignInRateLimit(clock),
    });
    this.app = webApp({
      backend: this.backend,
      gatekeeper: this.gatekeeper,
      names: new SiteNames(["box.lan"]),
      mounts: webMounts(this.backend, () => {}),
      warn: () => {},
    });
  }

  /** Serves it on a free port. */
  listen({ maxClients = 9, basePath = "", proxies = [] }: ListenOptions = {}): WebServer {
    const { backend, gatekeeper } = this;
    return openServer({ hostname: "127.0.0.1", port: 0 }, {
      ...{ backend, gatekeeper, maxClients, basePath, warn() {} },
      ...{ names: new SiteNames(), proxies: new TrustedProxies(proxies) },
    });
  }

  /** Opens a session of a tab. */
  async session(owner: SessionOwner = OWNER, url = "http://127.0.0.1:9615"): Promise<TestSession> {
    const { sessions } = this;
    return await TestSession.open(url, async (key) => {
      await sessions.open(owner, key);
      return await sessions.daemonKey();
    }, async (path) => (await this.ask("GET", path, { token: "" })).body);
  }

  /** Sends a request that a session signs. */
  async askAs(session: TestSession, method: string, path: string, body?: unknown): Promise<Asked> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const authorization = await session.authorization(method, path, text);
    return await this.ask(method, path, { headers: { authorization }, token: "", body: text });
  }

  /** Emits an event. */
  publish(change: ProcessChange): void {
    this.#changes?.enqueue(change);
  }

  /** Ends the stream of events, as for a reader that fell behind. */
  endChanges(): void {
    this.#changes!.close();
    this.changesOver = undefined;
  }

  /** Sends a request, with the owner's token by default. */
  async ask(method: string, path: string, init: AskInit = {}): Promise<Asked> {
    const { body, token = TOKEN, headers = {} } = init;
    const response = await this.app.request(`http://127.0.0.1:9615${path}`, {
      method,
      headers: {
        host: "127.0.0.1:9615",
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type") === "application/json";
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#home[Symbol.asyncDispose]();
  }
}

/** Options of a listener. */
interface ListenOptions {
  readonly maxClients?: number;
  readonly basePath?: string;
  /** Addresses of trusted proxies. */
  readonly proxies?: readonly string[];
}

/** Options of a request. */
export interface AskInit {
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

/** An answer. */
export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}
