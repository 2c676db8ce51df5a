/** Where the web surface listens: `127.0.0.1:9615`, `:9615`, `[::1]:9615`. Pure. */

import { ProcsupError } from "./errors.ts";
import { quote } from "./quote.ts";

/** An address to listen on. */
export interface ListenAddress {
  readonly hostname: string;
  /** 0 for any that is free. */
  readonly port: number;
}

/** Where it listens unless told otherwise. */
export const DEFAULT_LISTEN = "127.0.0.1:9615";

/** How the web surface listens; under the names of the wire, by which it is remembered. */
export interface WebSettings {
  /** `host:port`. */
  readonly listen: string;
  /** An address that other machines can reach is refused without it. */
  readonly allow_remote: boolean;
  /** More names by which browsers may call it. */
  readonly hosts: readonly string[];
  /** How many WebSockets may be there at once. */
  readonly max_clients: number;
  /** Paths of the certificate (with its chain) and of the key, in PEM; without them it is plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

/** Reads an address. Throws `bad_request`. */
export function parseListen(text: string): ListenAddress {
  const match = /^(?:(\[[0-9a-f:.]+\]|[^:[\]\s/]*):)?(\d{1,5})$/i.exec(text.trim());
  const port = Number(match?.[2]);
  if (match === null) throw refusal(text, `expected "host:port", such as "${DEFAULT_LISTEN}"`);
  if (port > 65_535) throw refusal(text, "expected a port up to 65535, or 0 for one that is free");
  const name = (match[1] ?? "").replace(/^\[|\]$/g, "").toLowerCase();
  // One family of addresses, so that it is clear which socket is meant.
  return { hostname: name === "" || name === "localhost" ? "127.0.0.1" : name, port };
}

function refusal(text: string, why: string): ProcsupError {
  return new ProcsupError("bad_request", `Invalid address ${quote(text)}: ${why}`);
}

/** `host:port`, with the brackets that IPv6 needs. */
export function addressText({ hostname, port }: ListenAddress): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

/** Whether only this machine can reach it. */
function isLoopback({ hostname }: ListenAddress): boolean {
  return hostname === "::1" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Why an address takes a permission of its own; undefined where only this machine can reach it. */
export function remoteProblem(address: ListenAddress): string | undefined {
  if (isLoopback(address)) return undefined;
  return `Cannot listen on "${addressText(address)}": other machines can reach it`;
}

/** What is open to other machines; undefined where only this one can reach it. */
export function exposure(address: ListenAddress, isEncrypted: boolean): string | undefined {
  if (isLoopback(address)) return undefined;
  const what =
    `Other machines can reach ${addressText(address)}: dashboard, REST API, WebSocket, ` +
    "/mcp and /metrics. A token or a session opens them, each by its role.";
  return isEncrypted
    ? what
    : `${what} Nothing is encrypted: set web.tls, or listen on loopback behind a proxy with TLS`;
}
