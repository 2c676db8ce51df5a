// deno-lint-ignore-file no-console
/**
 * Restarts every instance of a server on a shared socket again and again, one after the other,
 * under a load with one connection per request, and kills the daemon with SIGKILL at any moment.
 * The server does nothing special for this. Expected: 0 failed requests.
 *
 * `deno run -A scripts/faults/sockets_rolling.ts [node|python] [rounds]`
 */

import { fromFileUrl } from "@std/path";
import { sleep } from "../../src/platform/clock.ts";
import { freePort, type Load, startLoad } from "../../tests/support/http_load.ts";
import { TestDaemon } from "../../tests/support/procsup.ts";
import { waitFor } from "../../tests/support/wait_for.ts";

const fixture = (name: string) =>
  fromFileUrl(import.meta.resolve(`../../tests/fixtures/sockets/${name}`));

const APPS = {
  node: { entrypoint: fixture("server.js"), runtime: "node", instances: 4 },
  python: { entrypoint: fixture("server.py"), runtime: "python", instances: 2 },
};

async function answers(load: Load, pid: number): Promise<void> {
  load.recent();
  await waitFor(() => load.recent().has(String(pid)), { what: `${pid} to answer` });
}

/** Restarts each instance after the one before serves requests. Returns the number of restarts. */
async function round(daemon: TestDaemon, load: Load): Promise<number> {
  const names = (await daemon.client.call("list")).map(({ name }) => name);
  for (const name of names) {
    await daemon.client.call("restart", name);
    await answers(load, (await daemon.status(name)).pid);
  }
  return names.length;
}

/** Kills the daemon while it restarts an instance, and starts another daemon. */
async function interrupt(daemon: TestDaemon): Promise<void> {
  const cut = daemon.client.call("restart", "web:0").catch(() => {});
  await sleep(Math.random() * 60);
  await daemon.kill();
  await cut;
  await daemon.run();
  const up = async () =>
    (await daemon.client.call("list")).every(({ state, pid }) => state === "running" && pid > 0);
  await waitFor(async () => {
    if (await up()) return true;
    // After a kill between stop and start, either the next daemon or the requester starts the
    // instance.
    await daemon.client.call("start", { target: "web" }).catch(() => {});
    return false;
  }, { what: "all instances to run" });
}

async function main([which = "node", rounds = "8"]: readonly string[]): Promise<number> {
  const app = APPS[which as keyof typeof APPS];
  const port = freePort();
  await using daemon = await TestDaemon.start();
  const config = { ...app, name: "web", cwd: "/", env: { PORT: String(port) } };
  await daemon.client.call("start", { ...config, sockets: [`127.0.0.1:${port}`] });
  const load = startLoad(port);
  let restarts = 0;
  for (let i = 0; i < Number(rounds); i++) {
    restarts += await round(daemon, load);
    if (i % 2 === 1) await interrupt(daemon);
  }
  const { requests, failures } = await load.stop();
  console.log(
    `${which}: ${requests} requests, ${failures.length} failed; ${restarts} restarts, ` +
      `${Math.floor(Number(rounds) / 2)} SIGKILLs of the daemon`,
  );
  for (const failure of new Set(failures)) console.log(`  ${failure}`);
  return failures.length === 0 ? 0 : 1;
}

Deno.exit(await main(Deno.args));
