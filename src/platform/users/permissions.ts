/** Checks Deno's permissions. */

import { ProcsupError } from "../../model/errors.ts";
import { isLinux } from "../os.ts";

/** Reading /proc needs all of these, which together are `--allow-all`. */
const FOR_PROC = ["read", "write", "run", "env", "sys", "net", "ffi", "import"] as const;

/**
 * Throws `forbidden` naming every missing permission, before Deno prompts for one after the other.
 * Outside Linux a part may be enough, depending on what is supervised.
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

/** A `forbidden` error for a permission that Deno lacks; undefined for any other error. */
export function notPermitted(error: unknown, purpose: string): ProcsupError | undefined {
  if (!(error instanceof Error) || error.name !== "NotCapable") return undefined;
  return new ProcsupError("forbidden", `Cannot ${purpose}: ${error.message}`, { cause: error });
}

/** True if granted in full. Partly denied counts as missing. */
function isGranted(name: typeof FOR_PROC[number]): boolean {
  const { state, partial } = Deno.permissions.querySync({ name });
  return state === "granted" && !partial;
}
