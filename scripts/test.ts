// deno-lint-ignore-file no-console
/**
 * Runs all checks: format, lint, types, layers, package, tests.
 *
 * `deno task test` runs all of them, `--no-tests` all but the tests. Other arguments go to `deno test`,
 * which then runs alone, and from source: `deno task test tests/model --filter "stop"`.
 */

import { type Outcome, runStep, type Step } from "./checks/steps.ts";
import { buildUnpacked } from "./compile/portable.ts";
import { tempHome } from "../tests/support/temp_home.ts";

const root = import.meta.dirname!.replace(/\/scripts$/, "");

const FORMAT: Step = { name: "format", args: ["fmt", "--check"] };
const LINT: Step = { name: "lint", args: ["lint"] };
const TYPES: Step = {
  name: "types",
  args: ["check", ...present("main.ts", "src", "tests", "scripts")],
};
const LAYERS: Step = { name: "layers", args: ["run", "-A", "scripts/check_layers.ts"] };
/** Also checks types: run it after `types`, whose results it finds in the cache. */
const PACKAGE: Step = { name: "package", args: ["run", "-A", "scripts/publish.ts", "--dry-run"] };

/** All checks but the tests. Those of a list run one after the other, and the lists at the same time. */
const CHECKS: readonly (readonly Step[])[] = [[FORMAT, LINT, LAYERS], [TYPES, PACKAGE]];

/** Most tests wait for children: two files a core keep the cores busy. */
const JOBS = String(Math.min(8, 2 * navigator.hardwareConcurrency));

const THIS_MACHINE = "localhost,127.0.0.1,::1";

/** The program that the tests run; without it, they run the source. */
const PROGRAM = "PROCSUP_TEST_EXECUTABLE";

const ALL_TESTS = ["tests", "src"];

/** Rooms whose tests wait for programs and pages: they start first, and quick ones are the last. */
const SLOW_ROOMS = ["docs", "dashboard", "e2e", "mcp", "library", "web", "process", "platform"];

function present(...paths: string[]): string[] {
  const entries = new Set([...Deno.readDirSync(root)].map((entry) => entry.name));
  return paths.filter((path) => entries.has(path));
}

/** Runs `deno test` with live output. */
function testStep(args: readonly string[], env: Readonly<Record<string, string>> = {}): Step {
  return {
    name: "tests",
    args: ["test", "-A", "--parallel", ...args],
    env: {
      DENO_JOBS: Deno.env.get("DENO_JOBS") ?? JOBS,
      // The programs under test write to pipes, where colours would change the text.
      FORCE_COLOR: "",
      // The tests' own requests to this machine bypass proxies.
      ...{ NO_PROXY: THIS_MACHINE, no_proxy: THIS_MACHINE },
      ...env,
    },
    live: true,
  };
}

/** Runs all tests, with the program as it is shipped: it starts faster than its source. */
async function runTests(): Promise<readonly Outcome[]> {
  const tests = [...SLOW_ROOMS.map((room) => `tests/${room}`), ...ALL_TESTS];
  // Types are checked beside, and one mistake must not prevent all tests.
  const args = ["--no-check", ...tests];
  if (Deno.env.has(PROGRAM)) return [await runStep(root, testStep(args))];
  await using folder = tempHome();
  // Some tests run it as another user.
  Deno.chmodSync(folder.path, 0o755);
  try {
    const env = { [PROGRAM]: await buildUnpacked(root, folder.path) };
    return [await runStep(root, testStep(args, env))];
  } catch (error) {
    console.log(`== bundle\n${error}`);
    return [{ name: "bundle", status: 1 }];
  }
}

async function runInOrder(steps: readonly Step[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push(await runStep(root, step));
  return outcomes;
}

async function run(args: readonly string[]): Promise<readonly Outcome[]> {
  const forTests = args.filter((arg) => arg !== "--no-tests");
  const checks = () => CHECKS.map(runInOrder);
  if (args.length > forTests.length) return (await Promise.all(checks())).flat();
  if (forTests.length === 0) return (await Promise.all([...checks(), runTests()])).flat();
  const named = forTests.some((arg) => /^(\.\/)?(tests|src)(\/|$)|_test\.tsx?$/.test(arg));
  return [await runStep(root, testStep([...forTests, ...named ? [] : ALL_TESTS]))];
}

async function main(args: readonly string[]): Promise<number> {
  const failed = (await run(args)).filter(({ status }) => status !== 0);
  const names = failed.map((outcome) => outcome.name).join(", ");
  const result = failed.length === 0 ? "All good" : `Failed: ${names}`;
  console.log(`\n${result} (${(performance.now() / 1000).toFixed()} s)`);
  return failed[0]?.status ?? 0;
}

Deno.exit(await main(Deno.args));
