/** A machine with its own systemd, booted in a container of systemd-nspawn. */

import { comesTrue } from "../../src/platform/clock.ts";
import { systemdRuns } from "../../src/platform/service_manager.ts";
import { outputOf, type Ran } from "../../tests/support/output_of.ts";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Time limit for booting and for shutting down. */
const PATIENCE_MS = 120_000;

export class Machine implements AsyncDisposable {
  /** Its root folder, as seen from outside. */
  readonly root: string;
  #nspawn: Deno.ChildProcess | undefined;
  #boots = 0;

  constructor(root: string) {
    this.root = root;
  }

  /** Boots it. Resolves when systemd has started everything. */
  async boot(): Promise<void> {
    // A failed step may have left it running.
    if (this.#nspawn !== undefined) await this.end("poweroff");
    this.#boots++;
    this.#nspawn = new Deno.Command("/bin/sh", {
      // The console output is kept: it shows what systemd stopped, and in which order.
      args: ["-c", 'exec "$@" >"$CONSOLE" 2>&1', "sh", "systemd-nspawn", ...this.#flags()],
      env: {
        CONSOLE: `${this.root}.console.${this.#boots}`,
        SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: "1",
      },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const isUp = async () => {
      const { stdout } = await this.exec("systemctl is-system-running --wait");
      return /^(running|degraded)$/.test(stdout.trim());
    };
    if (await comesTrue(isUp, { ms: PATIENCE_MS, everyMs: 200 })) return;
    throw new Error(`No boot within ${PATIENCE_MS / 1000} s: see ${this.root}.console.*`);
  }

  /** Reboots it or powers it off. Returns the milliseconds it took. */
  async end(verb: "reboot" | "poweroff"): Promise<number> {
    const from = performance.now();
    await this.exec(`systemctl ${verb}`);
    const timer = setTimeout(() => this.#nspawn?.kill("SIGKILL"), PATIENCE_MS);
    await this.#nspawn?.status;
    clearTimeout(timer);
    this.#nspawn = undefined;
    return performance.now() - from;
  }

  /** Runs a shell command in it, as root. */
  async exec(command: string): Promise<Ran> {
    const leader = this.#leader();
    if (leader === undefined) return { code: 255, stdout: "", stderr: "not booted" };
    return await outputOf(
      new Deno.Command("nsenter", {
        args: ["-t", leader, "-a", "--", "/bin/sh", "-c", command],
        clearEnv: true,
        env: { PATH, HOME: "/root", TERM: "dumb", NO_COLOR: "1", LC_ALL: "C.UTF-8" },
        stdin: "null",
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#nspawn !== undefined) await this.end("poweroff");
  }

  #flags(): string[] {
    // If this machine runs systemd, that provides a scope with all controllers.
    const alone = systemdRuns() ? [] : ["--register=no", "--keep-unit"];
    const name = `procsup-boot-${Deno.pid}`;
    return ["-q", "-b", "-D", this.root, "--private-users=no", ...alone, "-M", name];
  }

  /** Pid of its first process, as seen from outside. */
  #leader(): string | undefined {
    const pid = this.#nspawn?.pid;
    if (pid === undefined) return undefined;
    try {
      const children = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).trim();
      return children.split(" ").filter(Boolean).at(-1);
    } catch {
      return undefined;
    }
  }
}
