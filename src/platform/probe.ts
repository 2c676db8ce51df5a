/** Single HTTP and TCP probes, for health checks. */

import { messageOf } from "../model/errors.ts";
import { withoutBrackets } from "../model/listen_address.ts";
import { timeoutSignal } from "./clock.ts";
import { fetchProblem, withoutProxy } from "./direct_http.ts";
import { isLack, lackOfDescriptors } from "./lack.ts";

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
