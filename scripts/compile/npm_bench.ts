/** The environment for testing the npm package: empty prefix, empty HOME, PATH without deno and node. */

import { readDaemonRecord } from "../../src/platform/daemon_record.ts";
import { TestBench } from "./test_bench.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts\/compile$/, "");

export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Folders and programs of the test, removed at the end. */
export class NpmBench implements AsyncDisposable {
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
  async procsup(...args: string[]): Promise<Result> {
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

async function run(
  program: string,
  args: readonly string[],
  options: Deno.CommandOptions,
): Promise<Result> {
  const output = await new Deno.Command(program, { ...options, args: [...args], stdin: "null" })
    .output();
  const text = new TextDecoder();
  const [stdout, stderr] = [text.decode(output.stdout), text.decode(output.stderr)];
  return { code: output.code, stdout, stderr };
}
