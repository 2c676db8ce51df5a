/** A root booted with its own systemd, in a container of systemd-nspawn. */

import { systemdRuns } from "../../src/platform/service_manager.ts";

/** What a command in the machine came to. */
export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** How long a boot, or an end, may take. */
const PATIENCE_MS = 120_000;

/** One machine, and the boots of it. */
export class Machine implements AsyncDisposable {
  /** Its root, as seen from outside. */
  readonly root: string;
  #nspawn: Deno.ChildProcess | undefined;
  #boots = 0;

  constructor(root: string) {
    this.root = root;
  }

  /** Boots it; resolves when nothing is left to be started. */
  async boot(): Promise<void> {
    // A step that failed half-way may have left it up, and a root is booted once at a time.
    if (this.#nspawn !== undefined) await this.end("poweroff");
    this.#boots++;
    this.#nspawn = new Deno.Command("/bin/sh", {
      // The console is kept: it says what systemd stopped, and in which order.
      args: ["-c", 'exec "$@" >"$CONSOLE" 2>&1', "sh", "systemd-nspawn", ...this.#flags()],
      env: {
        CONSOLE: `${this.root}.console.${this.#boots}`,
        SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: "1",
      },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const deadline = Date.now() + PATIENCE_MS;
    while (Date.now() < deadline) {
      const { stdout } = await this.exec("systemctl is-system-running --wait");
      if (/^(running|degraded)$/.test(stdout.trim())) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error(`No boot within ${PATIENCE_MS / 1000} s: see ${this.root}.console.*`);
  }

  /** Shuts it down by one of systemctl's verbs; how long that took, in milliseconds. */
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
  async exec(command: string): Promise<Result> {
    const leader = this.#leader();
    if (leader === undefined) return { code: 255, stdout: "", stderr: "not booted" };
    const { code, stdout, stderr } = await new Deno.Command("nsenter", {
      args: ["-t", leader, "-a", "--", "/bin/sh", "-c", command],
      clearEnv: true,
      env: { PATH, HOME: "/root", TERM: "dumb", NO_COLOR: "1", LC_ALL: "C.UTF-8" },
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#nspawn !== undefined) await this.end("poweroff");
  }

  #flags(): string[] {
    // A scope with all controllers comes from this machine's own systemd, where it has one.
    const alone = systemdRuns() ? [] : ["--register=no", "--keep-unit"];
    const name = `procsup-boot-${Deno.pid}`;
    return ["-q", "-b", "-D", this.root, "--private-users=no", ...alone, "-M", name];
  }

  /** Pid, out here, of its first process. */
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
