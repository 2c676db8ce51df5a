/** Runs commands and reads /proc. */

import { sleep } from "../../src/platform/clock.ts";

/** The output of a command that must succeed, and the milliseconds it took. */
export async function run(
  [program, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ ms: number; stdout: string }> {
  const startedAt = performance.now();
  const { code, stdout, stderr } = await new Deno.Command(program!, {
    args,
    env: { ...env, NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const ms = performance.now() - startedAt;
  const text = new TextDecoder();
  if (code === 0) return { ms, stdout: text.decode(stdout) };
  throw new Error(`${program} ${args.join(" ")}: exit code ${code}\n${text.decode(stderr)}`);
}

/** The text of a file; undefined if it cannot be read. */
export function readTextFile(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}

/** A memory figure of a process in kilobytes. */
export function memoryKb(pid: number, what: "RssAnon" | "Pss"): number {
  const file = what === "Pss" ? "smaps_rollup" : "status";
  const text = readTextFile(`/proc/${pid}/${file}`) ?? "";
  return Number(new RegExp(`^${what}:\\s*(\\d+) kB`, "m").exec(text)?.[1] ?? 0);
}

/** A new temporary folder with a short path. */
export function temporaryFolder(): string {
  return Deno.makeTempDirSync({ dir: "/tmp", prefix: "bench-" });
}

/** The first value of `get` that is not undefined. Throws after half a minute. */
export async function eventually<T>(get: () => T | undefined): Promise<T> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    const value = get();
    if (value !== undefined) return value;
    await sleep(5);
  }
  throw new Error("No value within 30 s");
}

/** As the portable form runs Deno. */
const DENO = [
  Deno.execPath(),
  ...["run", "-q", "-A", "--no-prompt", "--no-config", "--no-lock"],
  "--v8-flags=--max-semi-space-size=1",
];

/** Milliseconds of a Deno program without a line. */
export async function emptyProgram(): Promise<number> {
  return await program("");
}

/** Milliseconds of a Deno program that only spawns `sleep`. */
export async function spawns(count: number): Promise<number> {
  return await program(`for (let n = 0; n < ${count}; n++) {
    const streams = { stdin: "null", stdout: "null", stderr: "null" };
    new Deno.Command("/bin/sleep", { args: ["2"], detached: true, ...streams }).spawn().unref();
  }`);
}

async function program(text: string): Promise<number> {
  const path = Deno.makeTempFileSync({ suffix: ".js" });
  try {
    Deno.writeTextFileSync(path, text);
    return (await run([...DENO, path], {})).ms;
  } finally {
    Deno.removeSync(path);
  }
}
