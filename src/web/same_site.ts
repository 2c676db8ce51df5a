/** Protects against other web sites by checking Host and Origin. Pure. */

import { ProcsupError, quote } from "../model/errors.ts";
import type { Hint } from "../model/hint.ts";

/** The headers by which a browser identifies the origin of a request. */
interface Provenance {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

export class SiteNames {
  readonly #names: ReadonlySet<string>;
  readonly #port: number;

  /**
   * `more` are names in addition to those of loopback; their ports do not matter. `port` is that of
   * the listener.
   */
  constructor(more: readonly string[] = [], port = 0) {
    this.#port = port;
    this.#names = new Set([...LOOPBACK, ...more.map((name) => nameIn(name) ?? "")]);
  }

  /** Throws `forbidden` if another site may have caused the request. */
  check({ host, origin, fetchSite }: Provenance, isPage: boolean): void {
    const name = nameIn(host);
    // The port does not matter: a tunnel may change it.
    if (name === undefined || !this.#names.has(name)) throw unknownHost(host, name);
    if (origin !== undefined && !this.#isSame(origin, host!)) {
      const what = `Requests from Origin ${quote(origin)} are not accepted for Host ${
        quote(host!)
      }`;
      throw new ProcsupError("forbidden", what, { hint: OTHER_ORIGIN });
    }
    // Other pages may link to the dashboard, but must not request data.
    if (!isPage && fetchSite !== undefined && !["same-origin", "none"].includes(fetchSite)) {
      const hint = "Pages of other sites cannot use it; a program with a token can";
      throw new ProcsupError("forbidden", "Requests from other sites are not accepted", { hint });
    }
  }

  /**
   * Whether an origin is that of a host. Browsers send the port of this listener, if it is not the
   * usual one of HTTP. So a host without a port comes from a proxy that drops it: the name decides.
   */
  #isSame(origin: string, host: string): boolean {
    const wanted = host.toLowerCase();
    const { protocol = "", host: own, hostname } = URL.parse(origin) ?? {};
    if (!/^https?:$/.test(protocol) || origin !== `${protocol}//${own}`) return false;
    return own === wanted || (hostname === wanted && ![80, 443].includes(this.#port));
  }
}

/** The error for a request with a missing, invalid or unknown `Host`. */
export function unknownHost(host: string | undefined, name = nameIn(host)): ProcsupError {
  if (host === undefined || name === undefined) {
    const what = host ? `Invalid Host ${quote(host)}` : "The request has no Host";
    return new ProcsupError("forbidden", what, { hint: "Send the name of the server as Host" });
  }
  const hint = {
    text: "If it is a name of this server, allow it",
    command: { verb: "web start", flags: { "allow-host": name } },
  };
  return new ProcsupError("forbidden", `Host ${quote(host)} is not served here`, { hint });
}

const OTHER_ORIGIN: Hint = {
  text: "A proxy must pass on the Host of the browser, with its port",
  command: { verb: "help", target: "proxy" },
};

/** The name in `host:port`, in lower case; undefined if it is missing or invalid. */
function nameIn(host = ""): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:@/\\?#\s]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();
}
