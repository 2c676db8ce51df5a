/** What reverse proxies tell about the requests that they pass on. Headers of other peers are ignored. */

import { BlockList, isIP } from "node:net";

/** Headers by name, in lower case. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export class TrustedProxies {
  readonly #trusted = new BlockList();

  /** `ranges` are addresses, and networks such as `10.0.0.0/8`. */
  constructor(ranges: readonly string[] = []) {
    for (const range of ranges) {
      const [address = "", prefix] = range.split("/");
      const family = isIP(address) === 6 ? "ipv6" : "ipv4";
      if (prefix === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(prefix), family);
    }
  }

  /** The address of the client: the last one that is no trusted proxy. It may have invented those before. */
  clientOf(peer: string, headers: Headers): string {
    let client = peer;
    for (const address of listIn(headers["x-forwarded-for"]).toReversed()) {
      if (!this.#has(client) || isIP(address) === 0) break;
      client = address;
    }
    return client;
  }

  /** The host, with its port, that the client asked for. */
  hostOf(peer: string, headers: Headers): string | undefined {
    const [told] = this.#has(peer) ? listIn(headers["x-forwarded-host"]) : [];
    return told ?? listIn(headers.host)[0];
  }

  #has(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#trusted.check(address, version === 6 ? "ipv6" : "ipv4");
  }
}

function listIn(header: Headers[string]): readonly string[] {
  return [header ?? []].flat().join(",").split(",").map((one) => one.trim())
    .filter((one) => one !== "");
}
