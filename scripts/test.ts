// deno-lint-ignore-file no-console
/**
 * Runs all checks: format, lint, types, layers, package, tests.
 *
 * `deno task test` runs all of them, `--no-tests` all but the tests. Other arguments go to `deno test`,
 * which then runs alone: `deno task test tests/model --filter "stop"`.
 */

import { type Outcome, runStep, type Step } from "./checks/steps.ts";

const root = import.meta.dirname!.replace(/\/scripts$/, "");

const STATIC_STEPS: readonly Step[] = [
  { name: "format", args: ["fmt", "--check"] },
  { name: "lint", args: ["lint"] },
  { name: "types", args: ["check", ...present("main.ts", "src", "tests", "scripts")] },
  { name: "layers", args: ["run", "-A", "scripts/check_layers.ts"] },
];

/** Also checks types: run it after `types`, whose results it finds in the cache. */
const PACKAGE: Step = { name: "package", args: ["run", "-A", "scripts/publish.ts", "--dry-run"] };

/** Most tests wait for children: two files a core keep the cores busy. */
const JOBS = String(Math.min(8, 2 * navigator.hardwareConcurrency));

const THIS_MACHINE = "localhost,127.0.0.1,::1";

function present(...paths: string[]): string[] {
  const entries = new Set([...Deno.readDirSync(root)].map((entry) => entry.name));
  return paths.filter((path) => entries.has(path));
}

/** Runs `deno test` with live output, on all tests unless `args` contains a path. */
function testStep(args: readonly string[]): Step {
  const named = args.some((arg) => /^(\.\/)?(tests|src)(\/|$)|_test\.tsx?$/.test(arg));
  return {
    name: "tests",
    args: ["test", "-A", "--parallel", ...args, ...(named ? [] : ["tests", "src"])],
    env: {
      DENO_JOBS: Deno.env.get("DENO_JOBS") ?? JOBS,
      // The programs under test write to pipes, where colours would change the text.
      FORCE_COLOR: "",
      // The tests' own requests to this machine bypass proxies.
      ...{ NO_PROXY: THIS_MACHINE, no_proxy: THIS_MACHINE },
    },
    live: true,
  };
}

/** Groups of steps, one after the other; the steps of a group run at the same time. */
function stepsFor(args: readonly string[]): (readonly Step[])[] {
  const forTests = args.filter((arg) => arg !== "--no-tests");
  if (args.length > forTests.length) return [STATIC_STEPS, [PACKAGE]];
  if (forTests.length > 0) return [[testStep(forTests)]];
  // Types were checked before, and one mistake must not prevent all tests.
  return [STATIC_STEPS, [PACKAGE, testStep(["--no-check"])]];
}

async function main(args: readonly string[]): Promise<number> {
  const outcomes: Outcome[] = [];
  for (const steps of stepsFor(args)) {
    outcomes.push(...await Promise.all(steps.map((step) => runStep(root, step))));
  }
  const failed = outcomes.filter((outcome) => outcome.status !== 0);
  const names = failed.map((outcome) => outcome.name).join(", ");
  console.log(failed.length === 0 ? "\nAll good" : `\nFailed: ${names}`);
  return failed[0]?.status ?? 0;
}

Deno.exit(await main(Deno.args));
