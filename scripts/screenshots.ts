/**
 * Takes the pictures of the dashboard that the README shows: real apps, in a real browser.
 *
 *     deno run -A scripts/screenshots.ts
 *
 * Needs chromium. The apps run only for seconds, so an hour of metrics of `checkout` is invented.
 */

import {
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

const WAIT = "while [ ! -e go ]; do sleep 0.1; done";
const UP = "exec sleep 1000";
const check = { type: "command", command: "true", interval: "1s" };

const PROCESSES = {
  postgres: app(`echo ready to accept connections; ${UP}`, { tags: ["db"], namespace: "data" }),
  redis: app(`echo Ready to accept connections; ${UP}`, { namespace: "data", health_check: check }),
  gateway: app(`echo listening on :8080; ${UP}`, { namespace: "edge", health_check: check }),
  checkout: app(
    `for n in 1 2 3 4 5 6; do echo "{\\"level\\":\\"info\\",\\"msg\\":\\"order $n paid\\"}"; sleep 0.2; done; ` +
      `${WAIT}; echo "TypeError: Cannot read properties of undefined (reading 'price')" >&2; ` +
      `echo "    at total (checkout.js:41:18)" >&2; exit 1`,
    { namespace: "shop", restart_policy: "never" },
  ),
  cart: app(`echo up; ${UP}`, { namespace: "shop", instances: 2, health_check: check }),
  mailer: app(`echo queue is empty; ${UP}`, { namespace: "jobs" }),
  backup: app("true", { namespace: "jobs", cron: "@daily" }),
};

/** Writes an hour of metrics in which memory grows. */
function writeHistory(name: string): void {
  Deno.mkdirSync(pathsIn(home).metrics, { recursive: true, mode: 0o700 });
  using file = Deno.openSync(`${pathsIn(home).metrics}/${name}.ring`, {
    write: true,
    create: true,
  });
  file.writeSync(encodeHeader());
  const end = slotStart(FINE, Date.now());
  for (let at = end - 3_600_000; at < end; at += FINE.step) {
    const age = (end - at) / 3_600_000;
    const cpu = 6 + 3 * Math.sin(age * 40) + 30 * Math.max(0, 0.1 - age);
    const memory = (90 + 200 * Math.max(0, 0.6 - age)) * 1024 ** 2;
    const sample = {
      ...{ cpu, cpuMax: cpu, memory, memoryMax: memory, threads: 11, fds: 24, load: NaN },
      ...{ restarts: 0, uptime: 3600 * (1 - age), up: 1, health: 1 },
    };
    file.seekSync(slotPosition(FINE, at), Deno.SeekMode.Start);
    file.writeSync(encodeSlot({ at, sample }));
  }
}

try {
  writeHistory("checkout");
  Deno.writeTextFileSync(`${home}/procsup.json`, JSON.stringify({ processes: PROCESSES }));
  await procsup("start", `${home}/procsup.json`);
  await procsup("web", "start", "--listen", "127.0.0.1:0");
  const link = /http:\S+/.exec(await procsup("web", "open"))![0];
  await sleep(12_000);
  Deno.writeTextFileSync(`${home}/go`, "");
  await using browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
  await page.goto(link);
  const show = (hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await show("#/processes?group=namespace");
  await page.locator('[data-row="checkout"]').getByText("crashed").waitFor();
  await sleep(10_000);
  await page.screenshot({ path: `${FOLDER}/screenshot.png` });
  await page.setViewportSize({ width: 1280, height: 1060 });
  await show("#/processes/checkout?range=1h");
  await page.locator("figure").filter({ hasText: "Memory" }).locator(".mark.is-failure").waitFor({
    state: "attached",
  });
  await sleep(1000);
  await page.screenshot({ path: `${FOLDER}/past.png` });
} finally {
  await procsup("shutdown", "--yes");
  Deno.removeSync(home, { recursive: true });
}
