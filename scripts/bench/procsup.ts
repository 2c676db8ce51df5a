/** Runs procsup for comparison. */

import { type App, type Contender, pids } from "./contender.ts";
import { processRow } from "../../src/platform/scan/process_table.ts";
import { readTextFile, run, temporaryFolder } from "./system.ts";

const EXECUTABLE = import.meta.dirname!.replace(/scripts\/bench$/, "dist/procsup");

/** The executable that users run, as `deno task compile` builds it. */
export class Procsup implements Contender {
  readonly name = "procsup";
  readonly idleSeconds = "3141592";
  readonly #home = temporaryFolder();

  /** Starts its daemon. */
  static async open(): Promise<Procsup> {
    const procsup = new Procsup();
    await procsup.#cli("daemon", "--detach");
    return procsup;
  }

  version(): Promise<number> {
    return this.#cli("--version");
  }

  list(): Promise<number> {
    return this.#cli("list");
  }

  startMany(count: number): Promise<number> {
    const idle = ["--", "/bin/sleep", this.idleSeconds];
    return this.#cli("start", "--name", "idle", "-i", String(count), "--no-wait", ...idle);
  }

  startOne(index: number): Promise<number> {
    const idle = ["--", "/bin/sleep", this.idleSeconds];
    return this.#cli("start", "--name", `idle-${index}`, "--no-wait", ...idle);
  }

  async start({ name, command: [entrypoint, ...args], env, restart, oneLog }: App): Promise<void> {
    const restarts = restart
      ? { restart_delay: "0s", max_restarts: 1000 }
      : { restart_policy: "never" };
    const log = oneLog ? { log: { max_size: "1GB" } } : {};
    const file = `${this.#home}/bench.json`;
    const app = { entrypoint, args, env, ...restarts, ...log };
    Deno.writeTextFileSync(file, JSON.stringify({ processes: { [name]: app } }));
    await this.#cli("start", file, "--no-wait");
  }

  async deleteAll(): Promise<void> {
    await this.#cli("delete", "all", "--yes");
  }

  removeLogs(name: string): void {
    // The folder may still be in use: the rotation of a log continues after its app.
    for (const stream of ["stdout", "stderr"]) {
      Deno.removeSync(`${this.#home}/apps/${name}/${stream}.log`);
    }
  }

  daemonPid(): number {
    const log = readTextFile(`${this.#home}/daemon.log`) ?? "";
    return Number([...log.matchAll(/runs as pid (\d+)/g)].at(-1)![1]);
  }

  /** The launch wrappers: the daemon's direct children. */
  helperPids(): number[] {
    const daemon = this.daemonPid();
    return pids().filter((pid) => processRow(pid)?.ppid === daemon);
  }

  async close(): Promise<void> {
    await this.#cli("shutdown", "--yes");
    await Deno.remove(this.#home, { recursive: true });
  }

  async #cli(...args: string[]): Promise<number> {
    const env = { PROCSUP_HOME: this.#home, PROCSUP_CACHE: `${this.#home}/cache` };
    return (await run([EXECUTABLE, ...args], env)).ms;
  }
}
