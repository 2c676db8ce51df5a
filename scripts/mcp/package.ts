/** Runs npm packages with Deno: without Node or npx, and without changing the lock file. */

import { outputOf, type Ran } from "../../tests/support/output_of.ts";
/** Time limit for downloading a package, and for a run. */
const PATIENCE_MS = 300_000;

/** Downloads a package. Returns the last line of the error; undefined on success. */
export async function fetched(name: string, folder: string): Promise<string | undefined> {
  const ran = await deno(["cache", "--quiet", "--no-lock", "--no-config", `npm:${name}`], folder);
  return ran.code === 0 ? undefined : ran.stderr.trim().split("\n").at(-1) ?? "unknown";
}

/** Runs the program of a package in `folder`. */
export function runPackage(name: string, args: readonly string[], folder: string): Promise<Ran> {
  return deno(["run", "-A", "--quiet", "--no-lock", "--no-config", `npm:${name}`, ...args], folder);
}

async function deno(args: readonly string[], cwd: string): Promise<Ran> {
  return await outputOf(
    new Deno.Command(Deno.execPath(), {
      args: [...args],
      cwd,
      env: { NO_COLOR: "1" },
      stdin: "null",
      signal: AbortSignal.timeout(PATIENCE_MS),
    }),
  );
}
