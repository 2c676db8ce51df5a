// deno-lint-ignore-file no-console
/**
 * Compares the executable with the source: `deno run -A scripts/bench/executable.ts [runs]`, after
 * `deno task compile`. Measures size, first start (the portable form unpacks itself) and commands. Runs
 * alternate, so that other work on the machine slows both. Prints minimum and median in milliseconds.
 */

import { TestBench } from "../compile/test_bench.ts";
import { median } from "./table.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts\/bench$/, "");
const RUNS = Number(Deno.args[0] ?? 40);
const COMMANDS = [["version"], ["list"]];

type Words = readonly [string, ...string[]];

class Measured {
  readonly #env: Record<string, string>;

  constructor(env: Record<string, string>) {
    this.#env = env;
  }

  async time([program, ...first]: Words, args: readonly string[]): Promise<number> {
    const startedAt = performance.now();
    const { code, stderr } = await new Deno.Command(program, {
      args: [...first, ...args],
      env: this.#env,
      clearEnv: true,
      stdin: "null",
    }).output();
    const took = performance.now() - startedAt;
    if (code !== 0) throw new Error(`${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
    return took;
  }
}

function shown(times: readonly number[]): string {
  return `${Math.min(...times).toFixed(1)} / ${median(times).toFixed(1)}`;
}

async function main(): Promise<void> {
  await using bench = new TestBench(`${ROOT}/dist/procsup`);
  const measured = new Measured({ ...bench.env(), PROCSUP_HOME: `${bench.folder}/h` });
  const executable: Words = [bench.executable];
  const source: Words = [Deno.execPath(), "run", "-A", `${ROOT}/main.ts`];
  console.log(`size         ${(Deno.statSync(bench.executable).size / 1e6).toFixed(1)} MB`);
  console.log(`first start  ${(await measured.time(executable, ["version"])).toFixed(0)} ms`);
  await measured.time(executable, ["daemon", "--detach"]);
  try {
    for (const args of COMMANDS) {
      const [one, other]: [number[], number[]] = [[], []];
      for (let run = -2; run < RUNS; run++) {
        const times = [await measured.time(executable, args), await measured.time(source, args)];
        // The first runs fill caches.
        if (run >= 0) one.push(times[0]!), other.push(times[1]!);
      }
      const ratio = (median(one) / median(other)).toFixed(2);
      console.log(
        `${args[0]!.padEnd(12)} executable ${shown(one)}, source ${shown(other)}: × ${ratio}`,
      );
    }
  } finally {
    await measured.time(executable, ["shutdown", "--yes"]);
  }
}

await main();
