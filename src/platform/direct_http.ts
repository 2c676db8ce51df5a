/** HTTP requests that bypass proxies, why one failed, and single probes for health checks. */

import { messageOf } from "../model/errors.ts";
import { isLocal, withoutBrackets } from "../model/listen_address.ts";
import { timeoutSignal } from "./clock.ts";
import { isLack, lackOfDescriptors } from "./lack.ts";

const PROXY = /^(https?|all)_proxy$/i;

let direct: { readonly client?: Deno.HttpClient } | undefined;

/**
 * Options that make `fetch()` ignore the proxy variables. The runtime has no such option, but it reads
 * the variables when it creates a client: https://github.com/denoland/deno/issues/28385.
 */
export function withoutProxy(): { readonly client?: Deno.HttpClient } {
  return direct ??= directClient();
}

/** The same if the URL is on this machine. Other URLs may need the proxy. */
export function withoutProxyHere(url: string): { readonly client?: Deno.HttpClient } {
  return isLocal(withoutBrackets(new URL(url).hostname)) ? withoutProxy() : {};
}

function directClient(): { readonly client?: Deno.HttpClient } {
  const proxies = Object.entries(Deno.env.toObject()).filter(([name]) => PROXY.test(name));
  if (proxies.length === 0) return {};
  for (const [name] of proxies) Deno.env.delete(name);
  try {
    return { client: Deno.createHttpClient({}) };
  } finally {
    for (const [name, value] of proxies) Deno.env.set(name, value);
  }
}

/** Why `fetch()` failed: the innermost cause, without the URL and the layers that report it. */
export function fetchProblem(error: unknown): string {
  let at = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return messageOf(at).replace(/^error sending request .*?\): (?:client error \(\w+\): )?/, "");
}

/**
 * GETs a URL. Resolves with what is wrong, or undefined for a status from 200 to 399; at once when
 * `signal` is aborted. Throws if the machine lacks resources.
 */
export async function probeHttp(
  url: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const timeout = timeoutSignal(timeoutMs);
  const either = AbortSignal.any([timeout, signal]);
  try {
    const response = await fetch(url, { redirect: "manual", signal: either, ...withoutProxy() });
    // Its status is all that counts: the body may be large, or never end.
    await response.body?.cancel();
    if (response.status >= 200 && response.status < 400) return undefined;
    return `${url} answered ${response.status}`;
  } catch (error) {
    if (timeout.aborted) return `${url} did not answer within ${timeoutMs} ms`;
    const lack = lackOfDescriptors();
    if (lack !== undefined) throw lack;
    return `${url} does not answer: ${fetchProblem(error)}`;
  }
}

/**
 * Connects to `host:port`. Resolves with what is wrong, or undefined; at once when aborted. Throws
 * if the machine lacks resources.
 */
export async function probeTcp(
  endpoint: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const at = endpoint.lastIndexOf(":");
  const hostname = withoutBrackets(endpoint.slice(0, at));
  const timeout = timeoutSignal(timeoutMs);
  const either = AbortSignal.any([timeout, signal]);
  try {
    const port = Number(endpoint.slice(at + 1));
    const connection = await Deno.connect({ hostname, port, signal: either });
    connection.close();
    return undefined;
  } catch (error) {
    if (timeout.aborted) return `${endpoint} did not accept within ${timeoutMs} ms`;
    if (isLack(error)) throw error;
    return `${endpoint} does not accept: ${messageOf(error)}`;
  }
}
