// deno-lint-ignore-file no-console
/**
 * `deno task test:npm`: packs the npm package, installs it into an empty prefix, uses it, upgrades it
 * under running apps, and uninstalls it. Needs npm and its registry. The exit code is 1 if a check
 * fails.
 */

import { NpmBench } from "./compile/npm_bench.ts";

function expect(condition: unknown, what: string): void {
  console.log(`${condition ? "✔" : "✘"} ${what}`);
  if (!condition) throw new Error(`Not as promised: ${what}`);
}

async function install(bench: NpmBench): Promise<void> {
  await bench.npm("install", "-g", await bench.pack("0.1.0"));
  const version = await bench.procsup("version");
  expect(version.stdout === "procsup 0.1.0\n", "it is installed and runs");
  await bench.procsup("start", "--name", "app", "--", "sh", "-c", "env; exec sleep 1000");
  expect((await bench.app()).state === "running", "it keeps an app running");
  const { stdout } = await bench.procsup("logs", "app", "-n", "500");
  expect(
    /^DENO_DIR=.*users-own$/m.test(stdout) && !/DENO_NO_UPDATE|PROCSUP_(EXEC|USER)/.test(stdout),
    "the app's environment is the user's",
  );
  expect(bench.daemon().exe.startsWith(bench.prefix), "it runs on the Deno from npm");
}

async function upgrade(bench: NpmBench): Promise<void> {
  const before = await bench.app();
  await bench.npm("install", "-g", await bench.pack("9.0.0"));
  const listed = await bench.procsup("list");
  expect(
    listed.stderr.includes("this is 9.0.0: run procsup upgrade"),
    "a command tells to upgrade",
  );
  const web = await bench.procsup("web", "start", "--listen", "127.0.0.1:0");
  expect(
    web.code === 0,
    "the old daemon can still load its modules after npm replaced its package",
  );
  const upgraded = await bench.procsup("upgrade");
  expect(upgraded.stdout.includes("daemon 0.1.0 → 9.0.0"), "procsup upgrade replaces the daemon");
  expect((await bench.app()).pid === before.pid, "the app has the same pid");
  expect(
    (await bench.procsup("upgrade")).stdout.includes("already"),
    "a second upgrade does nothing",
  );
  expect(bench.copies().length <= 2, "no more than two programs are kept");
}

async function uninstall(bench: NpmBench): Promise<void> {
  expect((await bench.procsup("shutdown", "--yes")).code === 0, "it shuts down");
  await bench.npm("uninstall", "-g", "procsup");
  expect(bench.installed().length === 0, "uninstalling leaves nothing in the prefix");
  const left = [...Deno.readDirSync(bench.home)].map(({ name }) => name).sort();
  console.log(`  in HOME: ${left.join(" ")}`);
  expect(
    left.every((name) => /^\.(procsup|cache)$/.test(name)),
    "HOME has only its own folder, and a cache of Deno",
  );
}

await using bench = new NpmBench();
await install(bench);
await upgrade(bench);
await uninstall(bench);
