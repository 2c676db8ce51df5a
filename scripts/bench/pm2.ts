/** Runs PM2 for comparison. */

import { type App, type Contender } from "./contender.ts";
import { readTextFile, run, temporaryFolder } from "./system.ts";

/** The installed PM2, otherwise version 7 from npm. */
export class Pm2 implements Contender {
  readonly name = "PM2";
  readonly idleSeconds = "2718281";
  readonly #home = temporaryFolder();
  readonly #program: string;

  private constructor(program: string) {
    this.#program = program;
  }

  /** Starts its daemon. */
  static async open(): Promise<Pm2> {
    const pm2 = new Pm2(await findPm2());
    await pm2.#cli("ping");
    return pm2;
  }

  async versionText(): Promise<string> {
    return (await run([this.#program, "--version"], this.#env())).stdout.trim();
  }

  version(): Promise<number> {
    return this.#cli("--version");
  }

  list(): Promise<number> {
    return this.#cli("ls");
  }

  startMany(count: number): Promise<number> {
    const apps = Array.from({ length: count }, (_, index) => ({
      name: `idle-${index}`,
      script: "/bin/sleep",
      args: [this.idleSeconds],
      interpreter: "none",
      exec_mode: "fork",
    }));
    return this.#cli("start", this.#ecosystem(apps));
  }

  startOne(index: number): Promise<number> {
    const flags = ["--name", `idle-${index}`, "--interpreter", "none"];
    return this.#cli("start", "/bin/sleep", ...flags, "--", this.idleSeconds);
  }

  async start({ name, command: [script, ...args], env, restart }: App): Promise<void> {
    const policy = restart ? { restart_delay: 0, max_restarts: 1000 } : { autorestart: false };
    const app = { name, script, args, env, interpreter: "none", exec_mode: "fork", ...policy };
    await this.#cli("start", this.#ecosystem([app]));
  }

  async deleteAll(): Promise<void> {
    await this.#cli("delete", "all");
  }

  removeLogs(name: string): void {
    for (const stream of ["out", "error"]) {
      Deno.removeSync(`${this.#home}/logs/${name}-${stream}.log`);
    }
  }

  daemonPid(): number {
    return Number(readTextFile(`${this.#home}/pm2.pid`));
  }

  helperPids(): number[] {
    return [];
  }

  async close(): Promise<void> {
    await this.#cli("kill");
    await Deno.remove(this.#home, { recursive: true });
  }

  #ecosystem(apps: readonly unknown[]): string {
    const path = `${this.#home}/ecosystem.json`;
    Deno.writeTextFileSync(path, JSON.stringify({ apps }));
    return path;
  }

  #env(): Record<string, string> {
    return { PM2_HOME: this.#home };
  }

  async #cli(...args: string[]): Promise<number> {
    return (await run([this.#program, ...args], this.#env())).ms;
  }
}

/** The path of the program: running npx each time would take longer than what is measured. */
async function findPm2(): Promise<string> {
  const find = "command -v pm2";
  try {
    return (await run(["sh", "-c", find], {})).stdout.trim();
  } catch {
    const fetch = ["npx", "-y", "-p", "pm2@7", "-c", find];
    return (await run(fetch, {})).stdout.trim();
  }
}
