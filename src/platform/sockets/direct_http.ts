/** HTTP requests that bypass proxies, and why one failed. */

import { messageOf } from "../../model/errors.ts";
import { isLocal, withoutBrackets } from "../../model/listen_address.ts";

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
