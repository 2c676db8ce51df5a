/** The web listener: starts and stops on request. The next daemon restores it. */

import { WEB_KEYS } from "../model/settings_keys.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import { type FieldChange, keyChanges } from "../model/config_diff.ts";
import { systemClock } from "../platform/clock.ts";
import type { HomePaths } from "../platform/files/paths.ts";
import {
  readState,
  removeState,
  sealed,
  unsealed,
  writeState,
} from "../platform/files/state_file.ts";
import type { Input, WebJson, WebLinkJson } from "../protocol/wire.ts";
import { Gatekeeper, type Principal, SignInRateLimit } from "../auth/gatekeeper.ts";
import type { Backend } from "../web/backend.ts";
import type { Mount, WebApp } from "../web/context.ts";
import {
  addressText,
  DEFAULT_LISTEN,
  exposure,
  isLoopback,
  type ListenAddress,
  parseListen,
  remoteProblem,
  type WebSettings,
} from "../model/listen_address.ts";
import { NamedTokens } from "../auth/named_tokens.ts";
import { SiteNames } from "../web/same_site.ts";
import { TrustedProxies } from "../web/trusted_proxies.ts";
import type { WebServer } from "../web/server.ts";
import { DaemonKey } from "../auth/daemon_key.ts";
import { CODE_MS, type OpenSession, Sessions } from "../auth/sessions.ts";
import { readTls } from "./tls_files.ts";
import type { Token } from "./token.ts";
import { PortKeeper } from "../platform/sockets/port_keeper.ts";
import { Turns } from "../platform/concurrency.ts";
import { parseWeb } from "../model/config_schema.ts";
import {
  readFileIfAny,
  removeFile,
  removeIfPossible,
  replaceFile,
} from "../platform/files/atomic_file.ts";
import { lstatIfAny } from "../platform/files/stat.ts";
import { commandHint } from "../model/hint.ts";

interface WebListenerParts {
  readonly paths: HomePaths;
  readonly token: Token;
  readonly backend: Backend;
  readonly warn: (message: string) => void;
  readonly mounts?: Readonly<Record<string, Mount>>;
}

/** Time to answer the current requests after a change or a stop, which one of them may have asked for. */
const ANSWER_MS = 60_000;

const UNSET: WebSettings = {
  listen: DEFAULT_LISTEN,
  allow_remote: false,
  hosts: [],
  base_path: "/",
  trusted_proxies: [],
  max_clients: 256,
};

/** Owns the web server, which is loaded only when needed. */
export class WebListener {
  /** Named tokens, in addition to the daemon's own. */
  readonly tokens: NamedTokens;
  readonly #parts: WebListenerParts;
  readonly #sessions: Sessions;
  /** Authenticates requests on every surface. */
  readonly gatekeeper: Gatekeeper;
  #server: WebServer | undefined;
  /** Servers that no longer listen and answer their last requests. */
  readonly #retired = new Set<WebServer>();
  /** Settings in effect while it listens. */
  #settings: WebSettings = UNSET;
  /** Runs starts and stops one at a time. */
  readonly #turns = new Turns();
  #local: Promise<WebApp> | undefined;
  readonly #keeper: PortKeeper;

  constructor(parts: WebListenerParts) {
    this.#parts = parts;
    this.#keeper = new PortKeeper(parts.paths.home);
    const key = new DaemonKey(parts.paths.webKey);
    this.#sessions = new Sessions(systemClock, () => this.#keepSessions(), key);
    this.tokens = new NamedTokens(parts.paths.tokens, parts.warn);
    this.gatekeeper = new Gatekeeper({
      isOwner: (authorization) => parts.token.accepts(authorization),
      tokens: this.tokens,
      sessions: this.#sessions,
      attempts: new SignInRateLimit(),
    });
  }

  /**
   * Starts listening, or changes the given settings of a listener, and remembers them. Throws
   * `forbidden` for an address that other machines can reach unless allowed, `address_in_use`, or
   * `wrong_state` if it listens elsewhere.
   */
  start(payload: Input<"web_start"> = {}): Promise<WebJson> {
    return this.#turns.take(async () => {
      const before = this.#server === undefined ? this.#recalled() : this.#settings;
      // The address has errors of its own.
      parseWeb({ ...payload, listen: DEFAULT_LISTEN });
      const settings = { ...UNSET, ...before, ...payload };
      const address = this.#server?.address;
      if (address !== undefined && !isAt(address, parseListen(settings.listen))) {
        throw new ProcsupError("wrong_state", `Already listening on "${addressText(address)}"`, {
          hint: commandHint("web stop"),
        });
      }
      return await this.#apply(settings);
    });
  }

  /** The current settings; undefined while stopped. */
  settings(): Promise<WebSettings | undefined> {
    return this.#turns.take(() =>
      Promise.resolve(this.#server === undefined ? undefined : this.#settings)
    );
  }

  /**
   * Listens with these settings and remembers them. Does nothing if they are unchanged. Opens a new
   * address before it closes the old one; if that fails, the old one stays. Throws like `start()`.
   */
  configure(settings: WebSettings): Promise<WebJson> {
    return this.#turns.take(() => this.#apply(settings));
  }

  /** Stops listening. Later daemons do not listen either. */
  stop(): Promise<WebJson> {
    return this.#turns.take(async () => {
      await this.#retire();
      removeState(this.#parts.paths.web);
      return this.status();
    });
  }

  status(): WebJson {
    if (this.#server === undefined) return { status: "stopped", addr: "", url: "" };
    const { address: { hostname } } = this.#server;
    const isPublic = this.#settings.hosts.length > 0 ||
      !(isLoopback(this.#server.address) || isAnywhere(hostname));
    return { ...this.#status("running"), ...isPublic && { public_url: this.publicUrl()! } };
  }

  /**
   * The URL for links, without a slash at its end; undefined while it is stopped. Uses the first
   * configured host. With a loopback listener that host is a proxy with TLS.
   */
  publicUrl(): string | undefined {
    if (this.#server === undefined) return undefined;
    const { address, isEncrypted } = this.#server;
    const [host] = this.#settings.hosts;
    const base = basePathOf(this.#settings);
    if (host === undefined) return this.#status("running").url + base;
    if (isLoopback(address)) return `https://${host}${base}`;
    const port = host.includes(":") ? "" : `:${address.port}`;
    return `${isEncrypted ? "https" : "http"}://${host}${port}${base}`;
  }

  /** Makes a sign-in link with the role of the caller. Throws `wrong_state` while stopped. */
  link(by?: Principal): WebLinkJson {
    const url = this.publicUrl();
    if (url === undefined) {
      throw new ProcsupError("wrong_state", "The web listener is stopped", {
        hint: commandHint("web start"),
      });
    }
    const link = `${url}/#/login?code=${this.gatekeeper.code(by)}`;
    return { url: link, expires_in_seconds: CODE_MS / 1000 };
  }

  /** Sends a message to all clients that subscribed to events. */
  publish(message: unknown): void {
    this.#server?.publish(message);
  }

  /** Listens again if the previous daemon did. Problems are only logged. */
  async resume(): Promise<void> {
    restoreSessions(this.#parts.paths.sessions, this.#sessions);
    if (this.#recalled() === undefined) return void await this.#keeper.release();
    await this.start().catch((error) => this.#parts.warn(`Web: ${messageOf(error)}`));
  }

  /**
   * Stops listening; the next daemon listens again and restores the sessions. With `keepPort`, no other
   * program can listen there until then.
   */
  close({ keepPort = false } = {}): Promise<void> {
    return this.#turns.take(async () => {
      await this.#retire(this.#server, keepPort);
      await Promise.all([...this.#retired].map((server) => server.close()));
    });
  }

  /** Saves the sessions at each change, because a killed daemon cannot save them. */
  #keepSessions(): void {
    try {
      keepSessions(this.#parts.paths.sessions, this.#sessions);
    } catch (error) {
      this.#parts.warn(`Web: cannot save the sessions: ${messageOf(error)}`);
    }
  }

  /** Handles a request on the Unix socket: the same routes, except those for browsers. */
  async fetch(request: Request): Promise<Response> {
    this.#local ??= import("../web/app.ts").then(({ webApp }) => {
      const { backend, warn } = this.#parts;
      return webApp({ backend, warn, gatekeeper: this.gatekeeper });
    });
    return await (await this.#local).fetch(request);
  }

  async #apply(settings: WebSettings): Promise<WebJson> {
    const old = this.#server;
    if (old === undefined) await this.#open(parseListen(settings.listen), settings);
    else if (webChanges(this.#settings, settings).length === 0) {
      return this.#status("already_running");
    } else await this.#move(old, settings);
    this.#remember(settings);
    return this.#status("started");
  }

  async #move(old: WebServer, settings: WebSettings): Promise<void> {
    const wanted = parseListen(settings.listen);
    const address = isAt(old.address, wanted) ? old.address : wanted;
    if (address.port !== old.address.port) {
      await this.#open(address, settings);
      return await this.#retire(old);
    }
    // Find problems with the files before closing the old server.
    if (settings.tls !== undefined) readTls(settings.tls);
    // One port cannot have two listeners: close the old one first, and reopen it if that fails.
    await this.#retire();
    try {
      await this.#open(address, settings);
    } catch (error) {
      await this.#open(old.address, this.#settings);
      throw error;
    }
  }

  #remember(settings: WebSettings): void {
    const listen = addressText(this.#server!.address);
    this.#settings = { ...settings, listen };
    writeState(this.#parts.paths.web, this.#settings, { durable: true });
  }

  /**
   * The settings in effect when the last daemon ended; undefined if the web listener was stopped or
   * the file is damaged.
   */
  #recalled(): WebSettings | undefined {
    const { paths: { web: path }, warn } = this.#parts;
    // Without the file its backup copy must not start the listener.
    if (lstatIfAny(path) === undefined) removeState(path);
    const { value, problems } = readState(path, (value) => {
      const { listen } = value as Partial<WebSettings>;
      // Other keys have defaults, but a default address may not be what was set.
      if (typeof listen !== "string") throw new Error('"listen" is missing');
      return parseWeb(value);
    });
    for (const problem of problems) warn(problem);
    if (value === undefined && problems.length > 0) {
      warn("The web listener stays stopped; to start it: procsup web start");
    }
    return value;
  }

  async #open(address: ListenAddress, settings: WebSettings): Promise<void> {
    const remote = settings.allow_remote ? undefined : remoteProblem(address);
    if (remote !== undefined) {
      throw new ProcsupError("forbidden", remote, {
        hint: {
          text: "With web.tls, or behind a proxy that has TLS, allow it",
          command: { verb: "web start", flags: { "allow-remote": true } },
        },
      });
    }
    const { openServer } = await import("../web/server.ts");
    await this.#keeper.release();
    const { backend, warn, mounts = {} } = this.#parts;
    this.#server = openServer(address, {
      backend,
      warn,
      mounts,
      gatekeeper: this.gatekeeper,
      maxClients: settings.max_clients,
      tls: settings.tls && readTls(settings.tls),
      names: new SiteNames([...settings.hosts, ...addressNames(address)], address.port),
      proxies: new TrustedProxies(settings.trusted_proxies),
      basePath: basePathOf(settings),
    });
    this.#sessions.listenAt(addressText(this.#server.address));
    this.#keep();
    const { warning } = this.status();
    if (warning !== undefined) warn(`Web: ${warning}`);
  }

  #keep(): void {
    try {
      this.#keeper.keep(this.#server!.address);
    } catch (error) {
      const why = messageOf(error);
      this.#parts.warn(`Web: the port is free for other programs while no daemon runs: ${why}`);
    }
  }

  /** Frees the port. Does not wait for the last answers: one of them may wait for this. */
  async #retire(server = this.#server, keepPort = false): Promise<void> {
    if (server === undefined) return;
    if (server === this.#server) this.#server = undefined;
    // The keeper of another server is of the one that listens now.
    if (!keepPort && this.#server === undefined) await this.#keeper.release();
    await server.stop();
    this.#retired.add(server);
    void server.close(ANSWER_MS).then(() => this.#retired.delete(server));
  }

  #status(status: WebJson["status"]): WebJson {
    const { address, isEncrypted } = this.#server!;
    const { hostname, port } = address;
    const reachable = isAnywhere(hostname) ? { hostname: "127.0.0.1", port } : { hostname, port };
    return {
      status,
      addr: addressText({ hostname, port }),
      url: `${isEncrypted ? "https" : "http"}://${addressText(reachable)}`,
      warning: exposure(address, isEncrypted),
    };
  }
}

/** Whether it listens on all addresses of the machine. */
function isAnywhere(hostname: string): boolean {
  return hostname === "0.0.0.0" || hostname === "::";
}

/** The base path as a prefix; empty for none. */
function basePathOf({ base_path }: WebSettings): string {
  return base_path === "/" ? "" : base_path;
}

/** The settings that differ from the current ones. A wanted port of 0 matches any. */
export function webChanges(now: WebSettings | undefined, wanted: WebSettings): FieldChange[] {
  const { listen, ...others } = wanted;
  const from = now === undefined ? undefined : parseListen(now.listen);
  const to = parseListen(listen);
  const moves = from !== undefined && isAt(from, to)
    ? []
    : [{ field: "listen", ...(now && { from: now.listen }), to: addressText(to) }];
  return [...moves, ...keyChanges({ ...(now ?? UNSET), listen }, { ...others, listen }, WEB_KEYS)];
}

/** Whether a listener is where it is wanted. */
function isAt({ hostname, port }: ListenAddress, wanted: ListenAddress): boolean {
  return wanted.hostname === hostname && [0, port].includes(wanted.port);
}

/** Host names of an address: itself, or all addresses of the machine for a wildcard. */
function addressNames({ hostname }: ListenAddress): string[] {
  const bracketed = (name: string) => name.includes(":") ? `[${name}]` : name;
  if (hostname !== "0.0.0.0" && hostname !== "::") return [bracketed(hostname)];
  return Deno.networkInterfaces().map(({ address }) => bracketed(address));
}

/** Writes the open sessions, at each change, to a file that only the user can read. */
export function keepSessions(path: string, sessions: Sessions): void {
  const open = sessions.list();
  if (open.length > 0) replaceFile(path, `${sealed(open)}\n`);
  else removeFile(path);
}

/** Restores the sessions of the previous daemon. */
export function restoreSessions(path: string, sessions: Sessions): void {
  try {
    const text = readFileIfAny(path);
    if (text !== undefined) sessions.restore(unsealed(text) as OpenSession[]);
  } catch {
    // Damaged: users sign in again.
    removeIfPossible(path);
  }
}
