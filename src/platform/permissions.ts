/** Whether Deno lets this program supervise others. */

import { ProcsupError } from "../model/errors.ts";
import { isLinux } from "./os.ts";

/** Less than all of these, which together are `--allow-all`, does not open /proc. */
const FOR_PROC = ["read", "write", "run", "env", "sys", "net", "ffi", "import"] as const;

/**
 * Throws `forbidden` naming every permission that is missing, before anything is done or the user is
 * asked for one after the other. Elsewhere a part may do: it depends on what is supervised.
 */
export function refuseMissingPermissions(): void {
  if (!isLinux) return;
  const missing = FOR_PROC.filter((name) => !isGranted(name));
  if (missing.length === 0) return;
  const flags = missing.map((name) => `--allow-${name}`).join(" ");
  throw new ProcsupError("forbidden", `Cannot supervise processes without ${flags}`, {
    hint: "Run with --allow-all: on Linux nothing less lets a program read /proc",
  });
}

/** `forbidden` for what Deno did not permit, which its words tell; undefined for any other error. */
export function notPermitted(error: unknown, purpose: string): ProcsupError | undefined {
  if (!(error instanceof Error) || error.name !== "NotCapable") return undefined;
  return new ProcsupError("forbidden", `Cannot ${purpose}: ${error.message}`, { cause: error });
}

/** Wholly: what is denied in part counts as missing. */
function isGranted(name: typeof FOR_PROC[number]): boolean {
  const { state, partial } = Deno.permissions.querySync({ name });
  return state === "granted" && !partial;
}
