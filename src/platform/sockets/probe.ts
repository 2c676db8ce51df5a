/** Single probes of an address, for health checks. */

import { plainText } from "../../model/plain_text.ts";
import { maskedUrl } from "../../model/secret_values.ts";
import { messageOf, quote } from "../../model/errors.ts";
import { type ListenAddress, withoutBrackets } from "../../model/listen_address.ts";
import type { ExpectConfig } from "../../model/process_config.ts";
import { timeoutSignal } from "../clock.ts";
import { isLack } from "../lack.ts";
import { NotMet, NotTheRun } from "../launch/run_connection.ts";
import { type Answer, type Connection, readAnswer } from "./http_answer.ts";
import { withoutVerification } from "./insecure_tls.ts";

/** How to probe. */
export interface ProbeOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whether the time limit begins again once it is connected, which may take long among others. */
  readonly isShared?: boolean;
  /** Connects to the one that is checked. */
  readonly connect: (address: ListenAddress, signal: AbortSignal) => Promise<Deno.TcpConn>;
}

/** A request, and what its answer must be. */
interface HttpCheck {
  readonly url: string;
  /** Whether every certificate is accepted. */
  readonly insecure?: boolean | undefined;
  readonly expect?: ExpectConfig | undefined;
}

/**
 * GETs a URL, by HTTP/1.1 and past any proxy. Resolves with what is wrong, or undefined; at once when
 * `signal` is aborted. Throws if the machine lacks resources, and `NotMet`.
 */
export async function probeHttp(
  check: HttpCheck,
  options: ProbeOptions,
): Promise<string | undefined> {
  // Whoever may see the app reads the result.
  const what = maskedUrl(check.url);
  return await probe(options, { what, verb: "answer" }, async (begin) => {
    const problem = answerProblem(await answerOf(check, options, begin), check.expect);
    return problem && `${what} answered ${problem}`;
  });
}

/** What is wrong with an answer, in words after "answered"; undefined if it is as expected. */
export function answerProblem(
  { status, headers, body }: Answer,
  { status: statuses, header = {}, text }: ExpectConfig = {},
): string | undefined {
  if (statuses === undefined ? status < 200 || status > 399 : !statuses.includes(status)) {
    return status < 400 ? String(status) : `${status}${firstWords(body)}`;
  }
  for (const [name, part] of Object.entries(header)) {
    const value = headers.get(name);
    if (value === null) return `${status} without the header ${name}`;
    if (!value.includes(part)) {
      return `${status} with the header ${name}: ${value}, which lacks ${quote(part)}`;
    }
  }
  if (text === undefined || body.includes(text)) return undefined;
  return `${status} with a body that lacks ${quote(text)}`;
}

/** Maximum length of the part of an error's body in a message. */
const SHOWN_CHARS = 200;

/** The first line of an error's body, unless that is HTML. The body is not read for this alone. */
function firstWords(body: string): string {
  const line = plainText(body).split("\n").map((text) => text.trim()).find((text) => text !== "");
  return line === undefined || line.startsWith("<")
    ? ""
    : ` · ${line.slice(0, SHOWN_CHARS).toWellFormed()}`;
}

/**
 * Connects to `host:port`. Resolves with what is wrong, or undefined; at once when aborted. Throws
 * if the machine lacks resources, and `NotMet`.
 */
export async function probeTcp(
  endpoint: string,
  options: ProbeOptions,
): Promise<string | undefined> {
  return await probe(options, { what: endpoint, verb: "accept" }, async (begin) => {
    const at = endpoint.lastIndexOf(":");
    const hostname = withoutBrackets(endpoint.slice(0, at));
    const port = Number(endpoint.slice(at + 1));
    (await options.connect({ hostname, port }, begin())).close();
    return undefined;
  });
}

async function probe(
  { timeoutMs, signal }: ProbeOptions,
  { what, verb }: { readonly what: string; readonly verb: string },
  act: (begin: () => AbortSignal) => Promise<string | undefined>,
): Promise<string | undefined> {
  let timeout = signal;
  const begin = () => AbortSignal.any([timeout = timeoutSignal(timeoutMs), signal]);
  try {
    return await act(begin);
  } catch (error) {
    if (error instanceof NotMet) throw error;
    if (error instanceof NotTheRun) return error.message;
    if (timeout.aborted) return `${what} did not ${verb} within ${timeoutMs} ms`;
    if (isLack(error)) throw error;
    return `${what} does not ${verb}: ${messageOf(error)}`;
  }
}

async function answerOf(
  { url: text, insecure, expect }: HttpCheck,
  { connect, isShared }: ProbeOptions,
  begin: () => AbortSignal,
): Promise<Answer> {
  const url = new URL(text);
  const isEncrypted = url.protocol === "https:";
  const hostname = withoutBrackets(url.hostname);
  const port = url.port === "" ? (isEncrypted ? 443 : 80) : Number(url.port);
  let signal = begin();
  const plain = await connect({ hostname, port }, signal);
  if (isShared) signal = begin();
  let connection: Connection = plain;
  const close = () => connection.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    if (isEncrypted && insecure) connection = await withoutVerification(plain, hostname);
    else if (isEncrypted) {
      connection = await Deno.startTls(plain, { hostname, alpnProtocols: ["http/1.1"] });
    }
    let request = new TextEncoder().encode(requestFor(url));
    while (request.length > 0) request = request.subarray(await connection.write(request));
    // No more is read than is looked at: a body may be large, or never end.
    return await readAnswer(connection, {
      headers: expect?.header !== undefined,
      text: expect?.text,
    });
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
