/** Starts, kills, stops, suspends and replaces the bundled daemon of a chaos run. */

import { readDaemonRecord } from "../../../src/platform/daemon_record.ts";
import { fixedWords } from "../../../src/platform/own_program.ts";
import { DaemonClient } from "../../../src/protocol/daemon_client.ts";
import { outputOf, type Ran } from "../../../tests/support/output_of.ts";
import { isAlive } from "../../../tests/support/procsup.ts";
import { waitFor } from "../../../tests/support/wait_for.ts";

export class House {
  readonly home: string;
  readonly client: DaemonClient;
  /** Path of the program's main module. */
  readonly #main: string;
  /** How often a daemon was killed. */
  kills = 0;
  #coming: Promise<void> | undefined;

  constructor(home: string, main: string) {
    this.home = home;
    this.#main = main;
    this.client = new DaemonClient(home);
  }

  /** Pid of the daemon; 0 when none runs. */
  get pid(): number {
    const pid = readDaemonRecord(this.home)?.pid ?? 0;
    return pid > 0 && isAlive(pid) ? pid : 0;
  }

  /** Whether the daemon answers. */
  async answers(): Promise<boolean> {
    return await this.client.call("ping").then(() => true, () => false);
  }

  /** Starts a daemon unless one answers. Calls run one at a time. */
  up(): Promise<void> {
    return this.#coming ??= this.#up().finally(() => this.#coming = undefined);
  }

  async #up(): Promise<void> {
    if (await this.answers()) return;
    await waitFor(() => this.pid === 0, { what: "the old daemon to end" });
    const words = fixedWords({
      ...{
        standalone: false,
        mainModule: this.#main,
        execPath: Deno.execPath(),
        executable: undefined,
      },
    });
    const child = new Deno.Command("/bin/sh", {
      args: ["-c", 'exec "$@" 2>>"$0"', `${this.home}/stderr`, ...words, "daemon"],
      env: { PROCSUP_HOME: this.home },
      ...{ stdin: "null", stdout: "null", stderr: "null", detached: true },
    }).spawn();
    child.unref();
    const what = `the daemon ${child.pid} to answer`;
    await waitFor(() => this.answers(), { what, timeoutMs: 20_000 }).catch((error) => {
      throw new Error(`${error.message}; it ${isAlive(child.pid) ? "runs" : "has ended"}`);
    });
  }

  /** Sends the daemon a signal. Returns whether a daemon was running. */
  signal(signal: Deno.Signal): boolean {
    const { pid } = this;
    if (pid === 0) return false;
    if (signal === "SIGKILL") this.kills++;
    try {
      Deno.kill(pid, signal);
      return true;
    } catch {
      return false;
    }
  }

  /** Ends the daemon and waits for its exit. */
  async end(signal: Deno.Signal): Promise<void> {
    const { pid } = this;
    if (!this.signal(signal)) return;
    await waitFor(() => !isAlive(pid), { what: `the daemon to end by ${signal}` });
  }

  /** Runs a command of the program. */
  async cli(...args: string[]): Promise<Ran> {
    return await outputOf(
      new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", this.#main, ...args],
        env: { PROCSUP_HOME: this.home, NO_COLOR: "1", PROCSUP_NO_AUTOSTART: "1" },
        stdin: "null",
      }),
    );
  }
}
