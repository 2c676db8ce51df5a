/**
 * Takes the pictures of the dashboard that the README shows: real apps, in a real browser.
 *
 *     deno run -A scripts/screenshots.ts
 *
 * Needs chromium. The apps run only for a minute, so their metrics of an hour are invented.
 */

import {
  COARSE,
  encodeHeader,
  encodeSlot,
  FINE,
  slotPosition,
  slotStart,
} from "../src/daemon/metrics_ring.ts";
import { pathsIn } from "../src/platform/files/paths.ts";
import { launchBrowser } from "../tests/dashboard/browser.ts";
import { sleep } from "../src/platform/clock.ts";
import { run, temporaryFolder } from "./bench/system.ts";

const ROOT = import.meta.dirname!.replace(/scripts$/, "");
const FOLDER = `${ROOT}src/web/dashboard`;

const home = temporaryFolder();

async function procsup(...args: string[]): Promise<string> {
  const command = ["deno", "run", "-A", `${ROOT}main.ts`, "--home", home, ...args];
  return (await run(command, Deno.env.toObject())).stdout;
}

const app = (script: string, keys: object = {}) => ({
  entrypoint: "/bin/sh",
  args: ["-c", script],
  cwd: home,
  ...keys,
});

const UP = "exec sleep 1000";
const check = { type: "command", command: "true", interval: "1s" };
const FAILS = `echo "TypeError: Cannot read properties of undefined (reading 'price')" >&2; ` +
  `echo "    at total (checkout.js:41:18)" >&2; exit 1`;

const PROCESSES = {
  postgres: app(`echo ready to accept connections; ${UP}`, { tags: ["db"], namespace: "data" }),
  redis: app(`echo Ready to accept connections; ${UP}`, { namespace: "data", health_check: check }),
  gateway: app(
    `n=0; while :; do n=$((n+1)); echo "GET /orders/$n 200 $((n%7+3)) ms"; sleep 0.9; done`,
    { namespace: "edge", health_check: check },
  ),
  checkout: app(
    `for n in 1 2 3 4 5 6 7 8 9; do echo "{\\"level\\":\\"info\\",\\"msg\\":\\"paid\\",\\"order\\":$n}"; ` +
      `sleep 1; done; ${FAILS}`,
    { namespace: "shop", restart_delay: "2s" },
  ),
  cart: app(
    `while :; do echo "WARNING: stock is low"; sleep 6; done`,
    { namespace: "shop", instances: 2, health_check: check },
  ),
  mailer: app(`echo queue is empty; sleep 25; echo "Error: connect ECONNREFUSED" >&2; exit 70`, {
    namespace: "jobs",
  }),
  backup: app("echo saved; sleep 4", { namespace: "jobs", cron: "*/15 * * * * *" }),
};

/** Writes an hour of metrics in which memory grows, of `most` MiB at its end. */
function writeHistory(name: string, most: number): void {
  Deno.mkdirSync(pathsIn(home).metrics, { recursive: true, mode: 0o700 });
  using file = Deno.openSync(`${pathsIn(home).metrics}/${name}.ring`, {
    write: true,
    create: true,
  });
  file.writeSync(encodeHeader());
  const now = Date.now();
  for (const ring of [FINE, COARSE]) {
    const end = slotStart(ring, now);
    for (let at = end - 3_600_000; at < end; at += ring.step) {
      const age = (end - at) / 3_600_000;
      const cpu = 6 + 3 * Math.sin(age * 40 + most) + 30 * Math.max(0, 0.1 - age);
      const memory = most * (0.4 + Math.max(0, 0.6 - age)) * 1024 ** 2;
      const sample = {
        ...{ cpu, cpuMax: cpu, memory, memoryMax: memory, threads: 11, fds: 24, load: NaN },
        ...{ restarts: 0, uptime: 3600 * (1 - age), up: 1, health: 1 },
      };
      file.seekSync(slotPosition(ring, at), Deno.SeekMode.Start);
      file.writeSync(encodeSlot({ at, sample }));
    }
  }
}

try {
  const names = ["postgres", "redis", "gateway", "checkout", "cart:0", "cart:1", "mailer"];
  names.forEach((name, index) => writeHistory(name, 2 + index / 5));
  Deno.writeTextFileSync(`${home}/procsup.json`, JSON.stringify({ processes: PROCESSES }));
  const from = Date.now();
  await procsup("start", `${home}/procsup.json`);
  await procsup("web", "start", "--listen", "127.0.0.1:0");
  await sleep(60_000);
  const link = /http:\S+/.exec(await procsup("web", "open"))![0];
  await using browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 640 } });
  await page.goto(link);
  const rangeFrom = (at: number) => `from=${at}&to=${Date.now()}`;
  const pages = {
    timeline: `#/?${rangeFrom(from)}`,
    processes: "#/processes?group=namespace",
    logs: `#/logs?${rangeFrom(from + 8000)}`,
  };
  for (const [name, hash] of Object.entries(pages)) {
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await sleep(3000);
    if (name === "logs") await page.locator(".log-row", { hasText: "TypeError" }).first().click();
    await page.screenshot({ path: `${FOLDER}/${name}.png` });
  }
} finally {
  await procsup("shutdown", "--yes");
  Deno.removeSync(home, { recursive: true });
}
