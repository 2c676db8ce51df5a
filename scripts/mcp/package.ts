/** Tools from npm, run by Deno itself: no Node, no npx, and the repository's lock file untouched. */

/** How a run went. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Time in which a package must be there, and a run be over. */
const PATIENCE_MS = 300_000;

/** Whether a package can be had; its last words when not. */
export async function fetched(name: string, folder: string): Promise<string | undefined> {
  const ran = await deno(["cache", "--quiet", "--no-lock", "--no-config", `npm:${name}`], folder);
  return ran.code === 0 ? undefined : ran.stderr.trim().split("\n").at(-1) ?? "unknown";
}

/** Runs the program of a package in a folder. */
export function runPackage(name: string, args: readonly string[], folder: string): Promise<Ran> {
  return deno(["run", "-A", "--quiet", "--no-lock", "--no-config", `npm:${name}`, ...args], folder);
}

async function deno(args: readonly string[], cwd: string): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1" },
    stdin: "null",
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}
