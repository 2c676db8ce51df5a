// deno-lint-ignore-file no-console
/**
 * `deno task test:executable [--no-build] [arguments of deno test…]`: runs the demo and all end-to-end
 * tests with the executable, copied alone to an empty folder, in a separate environment: with another
 * HOME and, for the demo of the portable form, a PATH without deno and node.
 */

import { TestBench } from "./compile/test_bench.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");

async function deno(args: readonly string[], env?: Record<string, string>): Promise<number> {
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    ...(env === undefined ? {} : { env, clearEnv: true }),
    stdin: "null",
  }).spawn().status;
  return code;
}

async function main(args: readonly string[]): Promise<number> {
  const words = args.filter((arg) => arg !== "--no-build");
  const built = words.length < args.length || await deno(["task", "compile"]) === 0;
  if (!built) return 1;
  await using bench = new TestBench(`${ROOT}/dist/procsup`);
  // The compiled form has no Deno for the demo's web server.
  const bare = bench.isPortable;
  console.log(`== demo in ${bench.folder}${bare ? ", without deno and node on PATH" : ""}`);
  const demo = await deno(["run", "-A", "scripts/demo.ts"], bare ? bench.bareEnv() : bench.env());
  console.log("== tests/e2e");
  const named = words.some((word) => /^(\.\/)?tests/.test(word));
  const tests = [...words, ...(named ? [] : ["tests/e2e"])];
  const suite = await deno(["test", "-A", "--no-check", "--parallel", ...tests], bench.env());
  return demo || suite;
}

Deno.exit(await main(Deno.args));
