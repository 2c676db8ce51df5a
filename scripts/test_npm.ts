// deno-lint-ignore-file no-console
/**
 * `deno task test:npm`: packs the npm package, installs it into an empty prefix, uses it, upgrades it
 * under running apps, and uninstalls it. Needs npm and its registry. The exit code is 1 if a check
 * fails.
 */

import { readDaemonRecord } from "../src/platform/daemon_record.ts";
import { outputOf, type Ran } from "../tests/support/output_of.ts";
import { TestBench } from "./compile/test_bench.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");

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

/** An empty prefix, an empty HOME, and a PATH without deno and node. Removed at the end. */
class NpmBench implements AsyncDisposable {
  readonly #bench = new TestBench();
  readonly #env = { ...this.#bench.bareEnv(), DENO_DIR: `${this.#bench.folder}/users-own` };
  readonly prefix = `${this.#bench.folder}/prefix`;
  readonly home = this.#bench.home;
  #built = false;

  /** Creates a package of a version. Returns the path of its tarball. */
  async pack(version: string): Promise<string> {
    if (!this.#built) {
      await run(Deno.execPath(), ["run", "-A", "scripts/npm_package.ts"], { cwd: ROOT });
      this.#built = true;
    }
    const folder = `${this.#bench.folder}/${version}`;
    await run("cp", ["-r", `${ROOT}/dist/npm`, folder], {});
    relabel(folder, version);
    await run("npm", ["pack", "--silent", "--pack-destination", this.#bench.folder, folder], {});
    return `${this.#bench.folder}/procsup-${version}.tgz`;
  }

  /** Runs npm with this machine's settings. Throws if it fails. */
  async npm(...args: string[]): Promise<void> {
    const flags = ["--prefix", this.prefix, "--no-audit", "--no-fund", "--loglevel", "error"];
    const { code, stderr } = await run("npm", [...args, ...flags], {});
    if (code !== 0) throw new Error(`npm ${args[0]} failed: ${stderr}`);
  }

  /** Runs the installed program. */
  async procsup(...args: string[]): Promise<Ran> {
    return await run(`${this.prefix}/bin/procsup`, args, {
      env: this.#env,
      clearEnv: true,
      cwd: this.#bench.folder,
    });
  }

  async app(): Promise<{ readonly pid: number; readonly state: string }> {
    return JSON.parse((await this.procsup("list", "--json")).stdout)[0];
  }

  /** The daemon, according to its own record. */
  daemon(): { readonly pid: number; readonly exe: string } {
    const { pid } = readDaemonRecord(`${this.home}/.procsup`)!;
    return { pid, exe: Deno.readLinkSync(`/proc/${pid}/exe`) };
  }

  /** The programs that are kept in the home. */
  copies(): string[] {
    return [...Deno.readDirSync(`${this.home}/.procsup/program`)].map(({ name }) => name);
  }

  /** All files in the prefix. */
  installed(folder = this.prefix): string[] {
    return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
      isDirectory ? this.installed(`${folder}/${name}`) : [`${folder}/${name}`]
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.procsup("shutdown", "--yes").catch(() => {});
    await this.#bench[Symbol.asyncDispose]();
  }
}

/** Changes the version of a package, in its manifest and its code. */
function relabel(folder: string, version: string): void {
  const { version: own } = JSON.parse(Deno.readTextFileSync(`${folder}/package.json`));
  if (own === version) return;
  const files = [...Deno.readDirSync(`${folder}/lib`)].map(({ name }) => `${folder}/lib/${name}`);
  for (const path of [`${folder}/package.json`, ...files]) {
    const text = Deno.readTextFileSync(path);
    const changed = text.replaceAll(`"${own}"`, `"${version}"`);
    if (changed !== text) Deno.writeTextFileSync(path, changed);
  }
  Deno.writeTextFileSync(`${folder}/lib/build_id`, `${version}\n`);
}

function run(
  program: string,
  args: readonly string[],
  options: Deno.CommandOptions,
): Promise<Ran> {
  return outputOf(new Deno.Command(program, { ...options, args: [...args], stdin: "null" }));
}

await using bench = new NpmBench();
await install(bench);
await upgrade(bench);
await uninstall(bench);
