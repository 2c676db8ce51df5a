/** Single probes of an address, for health checks. */

import { maskedUrl } from "../../model/secret_values.ts";
import { messageOf } from "../../model/errors.ts";
import { type ListenAddress, withoutBrackets } from "../../model/listen_address.ts";
import { timeoutSignal } from "../clock.ts";
import { isLack } from "../lack.ts";
import { NotTheRun } from "../launch/run_connection.ts";

/** How to probe. */
export interface ProbeOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Connects to the one that is checked. */
  readonly connect: (address: ListenAddress, signal: AbortSignal) => Promise<Deno.TcpConn>;
}

/**
 * GETs a URL, by HTTP/1.1 and past any proxy. Resolves with what is wrong, or undefined for a status
 * from 200 to 399; at once when `signal` is aborted. Throws if the machine lacks resources.
 */
export async function probeHttp(url: string, options: ProbeOptions): Promise<string | undefined> {
  // Whoever may see the app reads the result.
  const what = maskedUrl(url);
  return await probe(options, { what, verb: "answer" }, async (signal) => {
    const status = await statusOf(new URL(url), options, signal);
    return status >= 200 && status < 400 ? undefined : `${what} answered ${status}`;
  });
}

/**
 * Connects to `host:port`. Resolves with what is wrong, or undefined; at once when aborted. Throws
 * if the machine lacks resources.
 */
export async function probeTcp(
  endpoint: string,
  options: ProbeOptions,
): Promise<string | undefined> {
  return await probe(options, { what: endpoint, verb: "accept" }, async (signal) => {
    const at = endpoint.lastIndexOf(":");
    const hostname = withoutBrackets(endpoint.slice(0, at));
    const port = Number(endpoint.slice(at + 1));
    (await options.connect({ hostname, port }, signal)).close();
    return undefined;
  });
}

async function probe(
  { timeoutMs, signal }: ProbeOptions,
  { what, verb }: { readonly what: string; readonly verb: string },
  act: (signal: AbortSignal) => Promise<string | undefined>,
): Promise<string | undefined> {
  const timeout = timeoutSignal(timeoutMs);
  try {
    return await act(AbortSignal.any([timeout, signal]));
  } catch (error) {
    if (error instanceof NotTheRun) return error.message;
    if (timeout.aborted) return `${what} did not ${verb} within ${timeoutMs} ms`;
    if (isLack(error)) throw error;
    return `${what} does not ${verb}: ${messageOf(error)}`;
  }
}

/** Maximum bytes of an answer that are read for its status. */
const MAX_BYTES = 64 * 1024;

async function statusOf(
  url: URL,
  { connect }: ProbeOptions,
  signal: AbortSignal,
): Promise<number> {
  const isEncrypted = url.protocol === "https:";
  const hostname = withoutBrackets(url.hostname);
  const port = url.port === "" ? (isEncrypted ? 443 : 80) : Number(url.port);
  let connection: Deno.Conn = await connect({ hostname, port }, signal);
  const close = () => connection.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    if (isEncrypted) {
      const options = { hostname, alpnProtocols: ["http/1.1"] };
      connection = await Deno.startTls(connection as Deno.TcpConn, options);
    }
    let request = new TextEncoder().encode(requestFor(url));
    while (request.length > 0) request = request.subarray(await connection.write(request));
    // Its status is all that counts: the body may be large, or never end.
    return await readStatus(connection);
  } finally {
    signal.removeEventListener("abort", close);
    if (!signal.aborted) close();
  }
}

function requestFor({ host, pathname, search, username, password }: URL): string {
  const credentials = [username, password].map(decodeURIComponent).join(":");
  return [
    `GET ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    "User-Agent: procsup",
    "Accept: */*",
    ...(credentials === ":" ? [] : [`Authorization: Basic ${base64(credentials)}`]),
    "Connection: close",
    "\r\n",
  ].join("\r\n");
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** An answer of its own before the final one, such as `103 Early Hints`, with its headers. */
const INTERIM = /^HTTP\/1\.[01] 1\d\d[^]*?\r?\n\r?\n/;

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})[ \r\n]/;

async function readStatus(connection: Deno.Conn): Promise<number> {
  const decoder = new TextDecoder("latin1");
  const piece = new Uint8Array(4096);
  let text = "";
  for (let length; (length = await connection.read(piece)) !== null;) {
    text += decoder.decode(piece.subarray(0, length));
    while (INTERIM.test(text)) text = text.replace(INTERIM, "");
    const status = STATUS_LINE.exec(text)?.[1];
    if (status !== undefined && !status.startsWith("1")) return Number(status);
    if (text.length > MAX_BYTES || !text.startsWith("HTTP/1.".slice(0, text.length))) break;
  }
  throw new Error(text === "" ? "it closed the connection" : "the answer is not HTTP/1.1");
}
