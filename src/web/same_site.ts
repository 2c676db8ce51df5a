/** Protects against other web sites by checking Host and Origin. Pure. */

import { ProcsupError } from "../model/errors.ts";

/** The headers by which a browser identifies the origin of a request. */
interface Provenance {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

export class SiteNames {
  readonly #names: ReadonlySet<string>;

  /** `more` are names in addition to those of loopback. */
  constructor(more: readonly string[] = []) {
    this.#names = new Set([...LOOPBACK, ...more.map((name) => name.toLowerCase())]);
  }

  /** Whether a `Host` header has one of the names. The port does not matter: a tunnel may change it. */
  has(host: string | undefined): host is string {
    const name = /^(\[[0-9a-f:.]+\]|[^:@/\\?#\s]+)(?::\d{1,5})?$/i.exec(host ?? "")?.[1];
    return name !== undefined && this.#names.has(name.toLowerCase());
  }

  /** Throws `forbidden` if another site may have caused the request. */
  check({ host, origin, fetchSite }: Provenance, isPage: boolean): void {
    if (!this.has(host)) throw new ProcsupError("forbidden", "This Host is not served here");
    if (origin !== undefined && !sameOrigin(origin, host)) {
      throw new ProcsupError("forbidden", "Requests from this Origin are not accepted");
    }
    // Other pages may link to the dashboard, but must not request data.
    if (!isPage && fetchSite !== undefined && !["same-origin", "none"].includes(fetchSite)) {
      throw new ProcsupError("forbidden", "Requests from other sites are not accepted");
    }
  }
}

function sameOrigin(origin: string, host: string): boolean {
  const wanted = host.toLowerCase();
  return origin === `http://${wanted}` || origin === `https://${wanted}`;
}
