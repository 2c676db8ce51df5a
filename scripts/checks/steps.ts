// deno-lint-ignore-file no-console
/** Runs a step of the checks: a Deno command with a heading, its duration and its result. */

/** Arguments for the Deno that runs this script, since there may be no other. */
export interface Step {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Show the output while it runs; otherwise only if it fails. */
  readonly live?: boolean;
}

export interface Outcome {
  readonly name: string;
  readonly status: number;
}

/** Runs a step in `root` and prints its result. */
export async function runStep(root: string, step: Step): Promise<Outcome> {
  console.log(`== ${step.name}: deno ${step.args.join(" ")}`);
  const startedAt = performance.now();
  const status = await (step.live ? runLive(root, step) : runQuietly(root, step));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`   ${status === 0 ? "ok" : `FAILED with status ${status}`} (${seconds} s)`);
  return { name: step.name, status };
}

function command(root: string, step: Step, output: "inherit" | "piped"): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: [...step.args],
    cwd: root,
    env: { ...colours(), ...step.env },
    stdin: "null",
    stdout: output,
    stderr: output,
  });
}

function colours(): Record<string, string> {
  return Deno.stdout.isTerminal() && !Deno.noColor ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" };
}

async function runLive(root: string, step: Step): Promise<number> {
  return (await command(root, step, "inherit").spawn().status).code;
}

async function runQuietly(root: string, step: Step): Promise<number> {
  const { code, stdout, stderr } = await command(root, step, "piped").output();
  if (code !== 0) {
    await writeAll(Deno.stdout, stdout);
    await writeAll(Deno.stdout, stderr);
  }
  return code;
}

async function writeAll(to: typeof Deno.stdout, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await to.write(bytes.subarray(done));
}
