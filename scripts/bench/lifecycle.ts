/**
 * Measures the cost of supervising many apps: idle, with health checks, and all killed at once. `deno
 * run -A scripts/bench/lifecycle.ts`; takes about a minute.
 */
// deno-lint-ignore-file no-console

import { fromFileUrl } from "@std/path";
import { sleep } from "../../src/platform/clock.ts";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";

const MAIN = fromFileUrl(import.meta.resolve("../../main.ts"));
const IDLE_APPS = 1000;
const CHECKED_APPS = 200;
const WATCH_MS = 10_000;

/** A daemon in a home of its own, with its costs. */
class BenchDaemon implements AsyncDisposable {
  readonly client: DaemonClient;
  readonly #home = Deno.makeTempDirSync();
  readonly #process: Deno.ChildProcess;

  constructor() {
    this.client = new DaemonClient(this.#home);
    this.#process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--v8-flags=--max-semi-space-size=1", MAIN, "daemon"],
      env: { PROCSUP_HOME: this.#home },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
  }

  async start(config: Record<string, unknown>): Promise<void> {
    while (!await this.client.call("ping").then(() => true, () => false)) await sleep(20);
    await this.client.call("start", {
      name: "app",
      entrypoint: "/bin/sleep",
      args: ["100000"],
      cwd: "/",
      ...config,
    });
  }

  /** CPU usage in percent of a core, measured over some seconds. */
  async cpuPercent(): Promise<number> {
    const before = this.#cpuMs();
    await sleep(WATCH_MS);
    return (this.#cpuMs() - before) / WATCH_MS * 100;
  }

  get rssMB(): number {
    const status = Deno.readTextFileSync(`/proc/${this.#process.pid}/status`);
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
  }

  #cpuMs(): number {
    const fields = Deno.readTextFileSync(`/proc/${this.#process.pid}/stat`).split(") ")[1]!.split(
      " ",
    );
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.call("shutdown");
    await this.#process.status;
    Deno.removeSync(this.#home, { recursive: true });
  }
}

async function idleAndKilled(): Promise<void> {
  await using daemon = new BenchDaemon();
  await daemon.start({ instances: IDLE_APPS, restart_delay: 0 });
  await sleep(3000);
  const cpu = await daemon.cpuPercent();
  report(`${IDLE_APPS} idle apps`, `${cpu.toFixed(1)} % of a core, ${daemon.rssMB.toFixed(0)} MB`);
  const before = await daemon.client.call("list");
  const killed = performance.now();
  for (const { pid } of before) Deno.kill(pid, "SIGKILL");
  for (;;) {
    await sleep(100);
    const now = await daemon.client.call("list");
    if (
      now.every(({ pid, state }, i) => state === "running" && pid > 0 && pid !== before[i]!.pid)
    ) {
      break;
    }
  }
  report(
    `${IDLE_APPS} apps killed at once`,
    `all back after ${seconds(performance.now() - killed)}`,
  );
}

async function checked(): Promise<void> {
  await using server = Deno.serve({ port: 0, onListen: () => {} }, () => new Response("ok"));
  await using daemon = new BenchDaemon();
  const url = `http://127.0.0.1:${server.addr.port}/`;
  await daemon.start({
    instances: CHECKED_APPS,
    health_check: { type: "http", url, interval: "1s" },
  });
  await sleep(3000);
  const cpu = await daemon.cpuPercent();
  report(`${CHECKED_APPS} http checks a second`, `${cpu.toFixed(1)} % of a core`);
}

function report(what: string, figure: string): void {
  console.log(`${what}: ${figure}`);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

if (import.meta.main) {
  await idleAndKilled();
  await checked();
}
