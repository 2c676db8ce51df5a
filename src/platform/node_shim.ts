/**
 * Where there is no Node, Deno puts a folder before the `PATH` of all that it starts, in which `node` is
 * Deno itself. That is not meant for apps: one that needs Node must find out that it is missing, and the
 * folder goes when that Deno goes.
 */

/** That Deno did so. */
const MARK = "DENO_NODE_SHIM_ACTIVE";

/** An environment as it was before. */
export function withoutNodeShim(env: Readonly<Record<string, string>>): Record<string, string> {
  const { [MARK]: mark, ...rest } = env;
  if (mark === undefined || rest.PATH === undefined) return rest;
  return { ...rest, PATH: withoutShimFolder(rest.PATH) };
}

/** A search path without that folder. */
export function withoutShimFolder(path: string): string {
  return path.split(":").filter((entry) => !entry.endsWith("/node_compat_bin")).join(":");
}
