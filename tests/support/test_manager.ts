/** The library with real child processes, in a temporary directory. */

import type { ProcessChange, ProcessInfo } from "../../src/mod.ts";
import type { UpOptions } from "../../src/process/process_requests.ts";
import { throwFirst } from "../../src/manager/bulk.ts";
import { Manager } from "../../src/manager/manager.ts";
import { openSupervisor } from "../../src/manager/open_supervisor.ts";
import type { Supervisor } from "../../src/manager/supervisor.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { tempHome } from "./temp_home.ts";
import { waitFor } from "./wait_for.ts";

/** A manager, with all its events and warnings. */
export class TestManager implements AsyncDisposable {
  readonly home: string;
  /** Events of all processes, in order. */
  readonly changes: ProcessChange[] = [];
  /** Warnings of the supervisor. */
  readonly warnings: string[] = [];
  readonly #temp: AsyncDisposable;
  #supervisor: Supervisor | undefined;

  private constructor(temp: AsyncDisposable & { path: string }) {
    this.#temp = temp;
    this.home = temp.path;
  }

  /** Opens a manager in a new directory. */
  static async open(): Promise<TestManager> {
    const test = new TestManager(tempHome());
    await test.reopen();
    return test;
  }

  get supervisor(): Supervisor {
    return this.#supervisor!;
  }

  /** The `Manager` of the same supervisor. Only the types make its constructor private. */
  get manager(): Manager {
    return Reflect.construct(Manager, [this.supervisor, {}]);
  }

  /** Opens another manager in the same directory after `release()`. */
  async reopen(clock?: Clock): Promise<void> {
    const warn = (message: string) => this.warnings.push(message);
    this.#supervisor = await openSupervisor({ logDir: this.home, warn, ...clock && { clock } });
    void this.#listen(this.#supervisor.events.stream());
  }

  /** Leaves all processes running, like a daemon that was killed. */
  release(): void {
    this.supervisor.release();
  }

  /** Starts a shell script, by default in the manager's directory. */
  async script(
    name: string,
    script: string,
    config: Record<string, unknown> = {},
    options: UpOptions = {},
  ): Promise<ProcessInfo> {
    const words = { name, entrypoint: "/bin/sh", args: ["-c", script], cwd: this.home };
    const quick = { min_uptime: "50ms" };
    const outcomes = await this.supervisor.add({ ...words, ...quick, ...config }, options);
    throwFirst(outcomes);
    return this.supervisor.info(outcomes[0]!.process);
  }

  /** One process. */
  info(name: string): ProcessInfo {
    return this.supervisor.inspect(name);
  }

  /** All instances, by index. */
  instances(name: string): ProcessInfo[] {
    const { directory } = this.supervisor;
    return directory.resolve(name).map((process) => this.supervisor.info(process));
  }

  /** Pids of all instances, by index. */
  pids(name: string): number[] {
    return this.instances(name).map(({ pid }) => pid);
  }

  /** Waits until a process is in a state; for `running`, until its pid is known too. */
  async until(name: string, state: ProcessInfo["state"]): Promise<ProcessInfo> {
    const there = ({ state: now, pid }: ProcessInfo) =>
      now === state && (now !== "running" || pid > 0);
    await waitFor(() => there(this.info(name)), { what: `"${name}" to be ${state}` });
    return this.info(name);
  }

  /** The lines of a file in the directory; empty if it is missing. */
  lines(file: string): string[] {
    try {
      return Deno.readTextFileSync(`${this.home}/${file}`).split("\n").slice(0, -1);
    } catch {
      return [];
    }
  }

  /** The events of a process of one type. */
  published(name: string, type: ProcessChange["type"]): ProcessChange[] {
    return this.changes.filter((change) => change.name === name && change.type === type);
  }

  /** Stops every process and removes the directory. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor?.close();
    await this.#temp[Symbol.asyncDispose]();
  }

  async #listen(events: ReadableStream<ProcessChange>): Promise<void> {
    for await (const change of events) this.changes.push(change);
  }
}
