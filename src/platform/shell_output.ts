/** What a short shell command prints. */

/** How to run it. */
export interface ShellQuestion {
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** How it went; 124 is the exit code of one that took too long. */
export interface ShellAnswer {
  readonly code: number;
  readonly stdout: string;
}

/** Runs `sh -c`; the `timeout` of the system ends it, and what it left running after it. */
export async function shellOutput(
  command: string,
  { cwd, env, timeoutMs }: ShellQuestion,
): Promise<ShellAnswer> {
  const { code, stdout } = await new Deno.Command("timeout", {
    args: ["--kill-after=1", String(Math.ceil(timeoutMs / 1000)), "/bin/sh", "-c", command],
    cwd,
    env,
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout) };
}
