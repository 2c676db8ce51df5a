// deno-lint-ignore-file no-console
/** Runs a step of the checks: a Deno command with a heading, its duration and its result. */

import { outputOf } from "../../tests/support/output_of.ts";
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

/** A step that takes this long hangs, on any machine. */
const LIMIT_MS = 60 * 60_000;

/** Runs a step in `root`. Unless it is live, prints everything at its end: others may run meanwhile. */
export async function runStep(root: string, step: Step): Promise<Outcome> {
  const heading = `== ${step.name}: deno ${step.args.join(" ")}`;
  if (step.live) console.log(heading);
  const startedAt = performance.now();
  const { code, stdout, stderr } = await run(root, step);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const result = `   ${code === 0 ? "ok" : `FAILED with status ${code}`} (${seconds} s)`;
  const shown = step.live ? [] : code === 0 ? [heading] : [heading, stdout, stderr];
  console.log([...shown, result].join("\n"));
  return { name: step.name, status: code };
}

async function run(root: string, step: Step) {
  if (step.live) {
    const { code } = await command(root, step, "inherit").spawn().status;
    return { code, stdout: "", stderr: "" };
  }
  return await outputOf(command(root, step, "piped"));
}

function command(root: string, step: Step, output: "inherit" | "piped"): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: [...step.args],
    cwd: root,
    env: { ...colours(), ...step.env },
    stdin: "null",
    stdout: output,
    stderr: output,
    signal: AbortSignal.timeout(LIMIT_MS),
  });
}

function colours(): Record<string, string> {
  return Deno.stdout.isTerminal() && !Deno.noColor ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" };
}
