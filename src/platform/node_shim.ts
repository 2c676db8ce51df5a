/**
 * Without Node, Deno adds a folder to the front of its children's `PATH`, in which `node` is Deno
 * itself. Apps must not get it: one that needs Node must find out that it is missing, and the
 * folder disappears with that Deno.
 */

/** Set by Deno when it has added the folder. */
const MARK = "DENO_NODE_SHIM_ACTIVE";

/** An environment without that change. */
export function withoutNodeShim(env: Readonly<Record<string, string>>): Record<string, string> {
  const { [MARK]: mark, ...rest } = env;
  if (mark === undefined || rest.PATH === undefined) return rest;
  return { ...rest, PATH: withoutShimFolder(rest.PATH) };
}

/** A search path without that folder. */
export function withoutShimFolder(path: string): string {
  return path.split(":").filter((entry) => !entry.endsWith("/node_compat_bin")).join(":");
}
