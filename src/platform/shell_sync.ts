/** Runs a short shell command and waits for it on the spot. */

/** How to run it. */
export interface SyncShell {
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** How it went; 124 is the exit code of one that took too long. */
export interface SyncResult {
  readonly code: number;
  readonly stdout: string;
}

/** Runs `sh -c`; the `timeout` of the system ends it, since nothing else runs here meanwhile. */
export function runShellSync(command: string, { cwd, env, timeoutMs }: SyncShell): SyncResult {
  const { code, stdout } = new Deno.Command("timeout", {
    args: ["--kill-after=1", String(Math.ceil(timeoutMs / 1000)), "/bin/sh", "-c", command],
    cwd,
    env,
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).outputSync();
  return { code, stdout: new TextDecoder().decode(stdout) };
}
