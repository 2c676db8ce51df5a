/** Where the web surface listens: `127.0.0.1:9615`, `:9615`, `[::1]:9615`. Pure. */

import { ProcsupError, quote } from "./errors.ts";

export interface ListenAddress {
  readonly hostname: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/** Default address. */
export const DEFAULT_LISTEN = "127.0.0.1:9615";

/** How the web surface listens. The names are those of the wire, and of the saved settings. */
export interface WebSettings {
  /** `host:port`. */
  readonly listen: string;
  /** Allows an address that other machines can reach. */
  readonly allow_remote: boolean;
  /** Further host names that browsers may use; with the port of a proxy, if it has another than 443. */
  readonly hosts: readonly string[];
  /** Path below which a proxy serves it, such as `/procsup`; `/` for none. */
  readonly base_path: string;
  /** Addresses and networks of the proxies whose `X-Forwarded-…` headers hold. */
  readonly trusted_proxies: readonly string[];
  /** Maximum number of WebSockets. */
  readonly max_clients: number;
  /** Paths of the certificate (with its chain) and the key, in PEM. Without them it is plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

/** Parses an address. Throws `bad_request`. */
export function parseListen(text: string): ListenAddress {
  const match = /^(?:(\[[0-9a-f:.]+\]|[^:[\]\s/]*):)?(\d{1,5})$/i.exec(text.trim());
  const port = Number(match?.[2]);
  if (match === null) throw refusal(text, `expected "host:port", such as "${DEFAULT_LISTEN}"`);
  if (port > 65_535) throw refusal(text, "expected a port up to 65535, or 0 for one that is free");
  const name = (match[1] ?? "").replace(/^\[|\]$/g, "").toLowerCase();
  // Use one address family, so that it is clear which socket is meant.
  return { hostname: name === "" || name === "localhost" ? "127.0.0.1" : name, port };
}

/** Whether a text is an IP address, or a network such as `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  const [, address = "", prefix = "0"] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  if (address.includes(":")) return URL.canParse(`http://[${address}]`) && Number(prefix) <= 128;
  const isByte = (part: string) => /^\d{1,3}$/.test(part) && Number(part) <= 255;
  const parts = address.split(".");
  return parts.length === 4 && parts.every(isByte) && Number(prefix) <= 32;
}

function refusal(text: string, why: string): ProcsupError {
  return new ProcsupError("bad_request", `Invalid address ${quote(text)}: ${why}`);
}

/** `host:port`, with the brackets that IPv6 needs. */
export function addressText({ hostname, port }: ListenAddress): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

/** Whether only this machine can reach it. */
export function isLoopback({ hostname }: Pick<ListenAddress, "hostname">): boolean {
  return hostname === "::1" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Whether a name or an address is this machine's loopback. */
export function isLocal(hostname: string): boolean {
  return hostname === "localhost" || isLoopback({ hostname });
}

/** A host name without the brackets that IPv6 has in URLs. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Why an address needs `allow_remote`; undefined on loopback. */
export function remoteProblem(address: ListenAddress): string | undefined {
  if (isLoopback(address)) return undefined;
  return `Cannot listen on "${addressText(address)}": other machines can reach it`;
}

/** Warns what other machines can reach; undefined on loopback. */
export function exposure(address: ListenAddress, isEncrypted: boolean): string | undefined {
  if (isLoopback(address)) return undefined;
  const what =
    `Other machines can reach ${addressText(address)}: dashboard, REST API, WebSocket, ` +
    "/mcp and /metrics. A token or a session opens them, each by its role.";
  return isEncrypted
    ? what
    : `${what} Nothing is encrypted: set web.tls, or listen on loopback behind a proxy with TLS`;
}
