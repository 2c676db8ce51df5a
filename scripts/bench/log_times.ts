/**
 * Measures how accurate the times of log lines are, and what log keeping costs the daemon:
 *
 *     deno run -A scripts/bench/log_times.ts [seconds]
 *
 * 1, 20 and 100 apps write bursts of lines with their own time, and tracebacks to standard error. Then
 * 50 silent apps are followed, and one app writes 50 MB/s. Needs python3.
 */

import { sleep } from "../../src/platform/clock.ts";
import { run, temporaryFolder } from "./system.ts";

const MAIN = import.meta.dirname!.replace(/scripts\/bench$/, "main.ts");
const SECONDS = Number(Deno.args[0] ?? 20);

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Ends by itself, so that nothing keeps running if this program is interrupted. */
const TALKER = `
import random, sys, time
sys.stdout.reconfigure(line_buffering=True)
# All begin together, once all are up: their start is another figure.
time.sleep(max(0, float(sys.argv[2]) - time.time()))
end = time.time() + float(sys.argv[1])
n = 0
while time.time() < end:
    time.sleep(random.choice([0.002, 0.05, 0.3, 1.5]) * random.random())
    for _ in range(random.randint(1, 5)):
        print(f"T {time.time() * 1000:.0f} line")
    if random.random() < 0.2:
        n += 1
        for k in range(8):
            sys.stderr.write(f"T {time.time() * 1000:.0f} trace {n} {k}\\n")
            sys.stderr.flush()
        print(f"T {time.time() * 1000:.0f} line")
time.sleep(3600)
`;

const FLOOD = `
import sys, time
end = time.time() + float(sys.argv[1])
block = b"x" * 99 + b"\\n"
while time.time() < end:
    began = time.time()
    for _ in range(5000):
        sys.stdout.buffer.write(block)
    sys.stdout.flush()
    time.sleep(max(0, 0.01 - (time.time() - began)))
time.sleep(3600)
`;

class Home implements AsyncDisposable {
  readonly path = temporaryFolder();

  async procsup(...args: string[]): Promise<string> {
    const command = ["deno", "run", "-A", MAIN, "--home", this.path, ...args];
    return (await run(command, Deno.env.toObject())).stdout;
  }

  /** CPU time of the daemon in milliseconds. */
  cpuMs(): number {
    const log = Deno.readTextFileSync(`${this.path}/daemon.log`);
    const pid = [...log.matchAll(/runs as pid (\d+)/g)].at(-1)![1];
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]!.split(" ");
    return 10 * (Number(stat[11]) + Number(stat[12]));
  }

  /** CPU usage of the daemon over `ms`, in percent of a core. */
  async percent(ms: number): Promise<string> {
    const [before, began] = [this.cpuMs(), performance.now()];
    await sleep(ms);
    return `${(100 * (this.cpuMs() - before) / (performance.now() - began)).toFixed(1)} %`;
  }

  /** Starts apps that begin their work at the same time, and resolves then. */
  async start(name: string, count: number, program: string): Promise<void> {
    const begin = Date.now() / 1000 + 3 + count / 8;
    const file = `${this.path}/${name}.py`;
    Deno.writeTextFileSync(file, program);
    const args = ["--name", name, "-i", String(count), "--no-wait"];
    await this.procsup("start", ...args, "--", "python3", file, String(SECONDS), String(begin));
    await sleep(1000 * begin - Date.now());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.procsup("shutdown", "--yes");
    await Deno.remove(this.path, { recursive: true });
  }
}

async function times(count: number): Promise<void> {
  await using home = new Home();
  await home.procsup("daemon", "--detach");
  await home.start("talk", count, TALKER);
  const percent = await home.percent(SECONDS * 1000);
  await sleep(3000);
  const text = await home.procsup("logs", "all", "-n", "10000", "-o", "jsonl");
  const apps = Map.groupBy(
    text.trim().split("\n").map((line) => JSON.parse(line)),
    ({ name }) => name,
  );
  const wrong: number[] = [];
  let [traces, torn] = [0, 0];
  for (const lines of apps.values()) {
    lines.forEach(({ line, at }, index) => {
      const [, time, what, trace, part] = line.split(" ");
      wrong.push(Math.abs(Date.parse(at) - Number(time)));
      if (what !== "trace" || part !== "0") return;
      traces++;
      const whole = lines.slice(index, index + 8)
        .every(({ line }, k) => line.endsWith(` trace ${trace} ${k}`));
      if (!whole) torn++;
    });
  }
  wrong.sort((a, b) => a - b);
  const at = (share: number) => wrong[Math.floor(share * (wrong.length - 1))];
  print(
    `${count} apps, ${wrong.length} lines: wrong by p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, ` +
      `max ${at(1)} ms; ${torn} of ${traces} tracebacks torn; daemon ${percent} of a core`,
  );
}

async function silent(): Promise<void> {
  await using home = new Home();
  await home.procsup("daemon", "--detach");
  await home.start("silent", 50, "import time; time.sleep(3600)");
  const follower = new Deno.Command("deno", {
    args: ["run", "-A", MAIN, "logs", "all", "-f", "--home", home.path],
    stdout: "null",
    stderr: "null",
  }).spawn();
  await sleep(15_000);
  print(`50 silent apps, followed: daemon ${await home.percent(10_000)} of a core`);
  follower.kill();
  await follower.status;
}

async function flood(): Promise<void> {
  await using home = new Home();
  await home.procsup("daemon", "--detach");
  await home.start("flood", 1, FLOOD);
  await sleep(2000);
  print(`50 MB/s: daemon ${await home.percent((SECONDS - 4) * 1000)} of a core`);
}

for (const count of [1, 20, 100]) await times(count);
await silent();
await flood();
