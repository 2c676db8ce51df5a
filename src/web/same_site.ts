/** Keeps other web sites out: which Host and Origin a request may name. Pure. */

import { ProcsupError } from "../model/errors.ts";

/** The headers by which a browser says on whose behalf it asks. */
export interface Provenance {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  readonly fetchSite: string | undefined;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** Names by which a listener may be called. */
export class SiteNames {
  readonly #names: ReadonlySet<string>;

  /** `more`: names beyond those of the loopback. */
  constructor(more: readonly string[] = []) {
    this.#names = new Set([...LOOPBACK, ...more.map((name) => name.toLowerCase())]);
  }

  /** Whether a `Host` header is one of ours, on whatever port: a tunnel may change that. */
  has(host: string | undefined): host is string {
    const name = /^(\[[0-9a-f:.]+\]|[^:@/\\?#\s]+)(?::\d{1,5})?$/i.exec(host ?? "")?.[1];
    return name !== undefined && this.#names.has(name.toLowerCase());
  }

  /** Throws `forbidden` for a request that another site may have caused. */
  check({ host, origin, fetchSite }: Provenance, isPage: boolean): void {
    if (!this.has(host)) throw new ProcsupError("forbidden", "This Host is not served here");
    if (origin !== undefined && !sameOrigin(origin, host)) {
      throw new ProcsupError("forbidden", "Requests from this Origin are not taken");
    }
    // A link on another page may lead to the dashboard, but no other page may ask for data.
    if (!isPage && fetchSite !== undefined && !["same-origin", "none"].includes(fetchSite)) {
      throw new ProcsupError("forbidden", "Requests from other sites are not taken");
    }
  }
}

function sameOrigin(origin: string, host: string): boolean {
  const wanted = host.toLowerCase();
  return origin === `http://${wanted}` || origin === `https://${wanted}`;
}
