/** The web surface of a daemon: started and stopped at will, and remembered for the next daemon. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { readFileIfAny, removeFile, replaceFileDurably } from "../platform/atomic_file.ts";
import type { HomePaths } from "../platform/paths.ts";
import type { WebJson, WebLinkJson, WebStartPayload } from "../protocol/web_actions.ts";
import { Attempts } from "../web/attempts.ts";
import type { Backend } from "../web/backend.ts";
import type { Mount } from "../web/context.ts";
import { Gatekeeper } from "../web/gatekeeper.ts";
import {
  addressText,
  DEFAULT_LISTEN,
  isLoopback,
  type ListenAddress,
  parseListen,
} from "../web/listen_address.ts";
import { NamedTokens } from "../web/named_tokens.ts";
import { SiteNames } from "../web/same_site.ts";
import type { WebServer } from "../web/server.ts";
import { CODE_MS, Sessions } from "../web/sessions.ts";
import type { Token } from "./token.ts";

/** What the web surface of a daemon stands on. */
export interface WebListenerParts {
  readonly paths: HomePaths;
  readonly token: Token;
  readonly backend: Backend;
  readonly warn: (message: string) => void;
  readonly mounts?: Readonly<Record<string, Mount>>;
}

/** What is remembered. */
interface Settings {
  readonly listen: string;
  readonly allow_remote: boolean;
  readonly hosts: readonly string[];
  readonly max_clients: number;
}

const UNSET: Settings = {
  listen: DEFAULT_LISTEN,
  allow_remote: false,
  hosts: [],
  max_clients: 256,
};

/** Owns the listener. Nothing of it is loaded before it is asked for. */
export class WebListener {
  /** Tokens beside the daemon's own. */
  readonly tokens: NamedTokens;
  readonly #parts: WebListenerParts;
  readonly #sessions = new Sessions();
  readonly #gatekeeper: Gatekeeper;
  #server: WebServer | undefined;
  /** Starts and stops come one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #local: Promise<(request: Request) => Response | Promise<Response>> | undefined;

  constructor(parts: WebListenerParts) {
    this.#parts = parts;
    this.tokens = new NamedTokens(parts.paths.tokens);
    this.#gatekeeper = new Gatekeeper({
      isOwner: (authorization) => parts.token.accepts(authorization),
      tokens: this.tokens,
      sessions: this.#sessions,
      attempts: new Attempts(),
    });
  }

  /**
   * Listens, and remembers it. Throws `forbidden` for an address that others can reach unless
   * allowed, `address_in_use`, or `wrong_state` when it listens elsewhere.
   */
  start(payload: WebStartPayload = {}): Promise<WebJson> {
    return this.#inTurn(async () => {
      const settings = { ...this.#remembered(), ...payload };
      const address = parseListen(settings.listen);
      if (this.#server !== undefined) return this.#runningAt(payload.listen && address);
      await this.#open(address, settings);
      const listen = addressText(this.#server!.address);
      replaceFileDurably(this.#parts.paths.web, `${JSON.stringify({ ...settings, listen })}\n`);
      return this.#status("started");
    });
  }

  /** Stops listening, and forgets it. */
  stop(): Promise<WebJson> {
    return this.#inTurn(async () => {
      await this.#close();
      removeFile(this.#parts.paths.web);
      return this.status();
    });
  }

  /** Whether it listens, and where. */
  status(): WebJson {
    return this.#server === undefined
      ? { status: "stopped", addr: "", url: "" }
      : this.#status("running");
  }

  /** A link that signs in. Throws `wrong_state` while it is stopped. */
  link(): WebLinkJson {
    if (this.#server === undefined) {
      throw new ProcsupError("wrong_state", "The web surface is stopped", {
        hint: "procsup web start",
      });
    }
    const url = `${this.#status("running").url}/login?code=${this.#sessions.code()}`;
    return { url, expires_in_seconds: CODE_MS / 1000 };
  }

  /** Signs all browsers out. */
  signOut(): void {
    this.#sessions.signOut();
  }

  /** Listens again where the daemon before listened. What is in the way is only told. */
  async resume(): Promise<void> {
    if (readFileIfAny(this.#parts.paths.web) === undefined) return;
    await this.start().catch((error) => this.#parts.warn(`Web: ${messageOf(error)}`));
  }

  /** Stops listening; the next daemon will listen again. */
  close(): Promise<void> {
    return this.#inTurn(() => this.#close());
  }

  /** A request on the daemon's Unix socket: the same routes, without what is for browsers. */
  async fetch(request: Request): Promise<Response> {
    this.#local ??= this.#localApp();
    return await (await this.#local)(request);
  }

  async #localApp(): Promise<(request: Request) => Response | Promise<Response>> {
    const [{ webApp }, { Snapshots }] = await Promise.all([
      import("../web/app.ts"),
      import("../web/snapshots.ts"),
    ]);
    const { backend, warn } = this.#parts;
    const list = () => backend.dispatch("list", undefined);
    const snapshots = new Snapshots({ list, maxAgeMs: 0 });
    const app = webApp({ backend, warn, gatekeeper: this.#gatekeeper, snapshots });
    return (request) => app.fetch(request);
  }

  async #open(address: ListenAddress, settings: Settings): Promise<void> {
    if (!isLoopback(address) && !settings.allow_remote) {
      throw new ProcsupError(
        "forbidden",
        `Cannot listen on "${addressText(address)}": other machines can reach it`,
        { hint: "procsup web start --allow-remote, behind something that speaks TLS" },
      );
    }
    const { openServer } = await import("../web/server.ts");
    const { backend, warn, mounts = {} } = this.#parts;
    this.#server = await openServer(address, {
      backend,
      warn,
      mounts,
      gatekeeper: this.#gatekeeper,
      maxClients: settings.max_clients,
      names: new SiteNames([...settings.hosts, ...addressNames(address)]),
    });
  }

  async #close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.close();
  }

  #runningAt(wanted: ListenAddress | "" | undefined): WebJson {
    const { address } = this.#server!;
    const same = !wanted ||
      (wanted.hostname === address.hostname && [0, address.port].includes(wanted.port));
    if (same) return this.#status("already_running");
    throw new ProcsupError("wrong_state", `It listens on "${addressText(address)}" already`, {
      hint: "procsup web stop",
    });
  }

  #status(status: WebJson["status"]): WebJson {
    const { hostname, port } = this.#server!.address;
    const anywhere = hostname === "0.0.0.0" || hostname === "::";
    const reachable = anywhere ? { hostname: "127.0.0.1", port } : { hostname, port };
    return {
      status,
      addr: addressText({ hostname, port }),
      url: `http://${addressText(reachable)}`,
    };
  }

  #remembered(): Settings {
    try {
      return { ...UNSET, ...JSON.parse(readFileIfAny(this.#parts.paths.web) ?? "{}") };
    } catch {
      return UNSET;
    }
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act, act);
    this.#last = turn;
    return turn;
  }
}

/** The names of an address: itself, and for all addresses those that the machine has. */
function addressNames({ hostname }: ListenAddress): string[] {
  const bracketed = (name: string) => name.includes(":") ? `[${name}]` : name;
  if (hostname !== "0.0.0.0" && hostname !== "::") return [bracketed(hostname)];
  return Deno.networkInterfaces().map(({ address }) => bracketed(address));
}
