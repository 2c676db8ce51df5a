/** A home, and modified builds of the program. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { readDaemonRecord } from "../../src/platform/daemon_record.ts";
import { isFree } from "../../src/platform/files/lock.ts";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { outputOf } from "./output_of.ts";
import { isAlive } from "./procsup.ts";
import { tempHome } from "./temp_home.ts";
import { waitFor } from "./wait_for.ts";
import { wholeLog } from "./whole_log.ts";

const ROOT = fromFileUrl(import.meta.resolve("../.."));

/** Script of an app that writes 1, 2, 3… until it is stopped. */
const writer = (pause: number) =>
  `i=0; while :; do for n in 1 2 3 4; do i=$((i+1)); echo $i; done; sleep ${pause}; done`;

/** A home with a background daemon of another build. */
export class UpgradeScene implements AsyncDisposable {
  readonly #temp = tempHome();
  readonly #builds = tempHome();
  readonly home = this.#temp.path;
  readonly client = new DaemonClient(this.home, () => {});

  /** Copies the source and replaces text in one file. Returns command words that run the copy. */
  async build(name: string, file: string, from: string, to: string): Promise<string[]> {
    const folder = `${this.#builds.path}/${name}`;
    Deno.mkdirSync(folder);
    const { success } = await new Deno.Command("cp", {
      args: ["-r", "src", "main.ts", "deno.json", "deno.lock", folder],
      cwd: ROOT,
    }).output();
    assert(success);
    const text = Deno.readTextFileSync(`${folder}/${file}`);
    assertStringIncludes(text, from);
    Deno.writeTextFileSync(`${folder}/${file}`, text.replace(from, to));
    return [Deno.execPath(), "run", "-A", `${folder}/main.ts`];
  }

  /** Runs a command of a build in this home. */
  async run(program: readonly string[], ...args: string[]) {
    return await outputOf(
      new Deno.Command(program[0]!, {
        args: [...program.slice(1), ...args],
        env: { PROCSUP_HOME: this.home, NO_COLOR: "1" },
        stdin: "null",
      }),
    );
  }

  /** Starts apps up to `count`, from number `first`, that write 1, 2, 3… Returns all pids by name. */
  async startWriters(count: number, first = 0): Promise<Map<string, number>> {
    // Each pause forks: the writers together do so 50 times a second at most.
    const script = writer(Math.max(0.2, count / 50));
    for (let i = first; i < count; i++) {
      await this.client.call("start", {
        name: `w${i}`,
        entrypoint: "/bin/sh",
        args: ["-c", script],
        cwd: "/",
      });
    }
    await waitFor(async () => (await this.pids()).size === count, { what: "all to run" });
    return await this.pids();
  }

  /** Pid of the daemon, as it recorded itself. */
  daemonPid(): number {
    return readDaemonRecord(this.home)!.pid;
  }

  /** Pids of the apps that are up, by name. */
  async pids(): Promise<Map<string, number>> {
    const list = await this.client.call("list");
    return new Map(list.filter(({ pid }) => pid > 0).map(({ name, pid }) => [name, pid]));
  }

  /** Asserts that each writer goes on and wrote 1, 2, 3… without a gap. Stops them. */
  async assertNothingLost(count: number): Promise<void> {
    const logs = Array.from({ length: count }, (_, i) => `${this.home}/apps/w${i}/stdout.log`);
    const sizes = logs.map((log) => Deno.statSync(log).size);
    const goOn = () => logs.every((log, i) => Deno.statSync(log).size > sizes[i]!);
    await waitFor(goOn, { what: "all to write on" });
    await this.client.call("stop", { target: "all", timeout: "5s" });
    for (const log of logs) {
      const lines = (await wholeLog(log)).trim().split("\n");
      lines.forEach((line, at) => assertEquals(line, String(at + 1), log));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pid = readDaemonRecord(this.home)?.pid;
    await this.client.call("shutdown").catch(() => {});
    await this.#builds[Symbol.asyncDispose]();
    const isOver = () => isFree(pathsIn(this.home).lock) && (!pid || !isAlive(pid));
    await waitFor(isOver, { what: "the daemon to end" });
    await this.#temp[Symbol.asyncDispose]();
  }
}
