/** HTTP requests that no proxy is for. */

const PROXY = /^(https?|all)_proxy$/i;

let direct: { readonly client?: Deno.HttpClient } | undefined;

/**
 * Makes `fetch()` ignore the proxies of the environment. The runtime has no option for it, but reads
 * the variables when it makes a client: https://github.com/denoland/deno/issues/28385.
 */
export function withoutProxy(): { readonly client?: Deno.HttpClient } {
  return direct ??= directClient();
}

/** The same for a URL on this machine; any other may need its proxy. */
export function withoutProxyHere(url: string): { readonly client?: Deno.HttpClient } {
  const { hostname } = new URL(url);
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname) ? withoutProxy() : {};
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
