/** The life of an app that its clients start. */

import { assertEquals } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { LoneProcess } from "./lone_process.ts";

const CONFIG = { sockets: ["127.0.0.1:8080"], start_on: "connection" };

async function waiting(config: Record<string, unknown> = {}): Promise<LoneProcess> {
  const lone = new LoneProcess({ ...CONFIG, ...config });
  await lone.process.start({ wait: true });
  assertEquals([lone.state, lone.process.snapshot.awaiting], ["waiting", "connection"]);
  return lone;
}

async function used(lone: LoneProcess): Promise<void> {
  lone.world.connectClient!();
  await waitFor(() => lone.state === "running");
}

Deno.test("an app with start_on waits for a client, and stops when it had none for idle_timeout", async () => {
  await using lone = await waiting({ idle_timeout: "10m" });
  const { world } = lone;
  for (let round = 1; round <= 3; round++) {
    await used(lone);
    const { lastReason, restarts } = lone.process.info();
    assertEquals([lastReason, restarts], ["started by a connection to 127.0.0.1:8080", 0]);
    world.isUsed = true;
    for (let minute = 0; minute < 20; minute++) world.clock.advance(60_000);
    world.isUsed = false;
    for (let second = 0; second < 595; second += 5) world.clock.advance(5000);
    assertEquals(lone.state, "running");
    world.clock.advance(5000);
    await waitFor(() => lone.state === "waiting");
    assertEquals(world.children.length, round);
  }
  await lone.process.stop();
  assertEquals([lone.state, world.connectClient], ["stopped", undefined]);
});

Deno.test("an app with start_on that ends with success waits again, within its budget", async () => {
  await using lone = await waiting({ max_restarts: 2 });
  for (let round = 0; round < 2; round++) {
    await used(lone);
    lone.world.child.exit(0);
    await waitFor(() => lone.process.snapshot.awaiting === "connection");
  }
  await used(lone);
  lone.world.child.exit(0);
  await waitFor(() => lone.state === "errored");
});

Deno.test("the failures of an app with start_on count, whoever started it", async () => {
  await using lone = await waiting({ max_restarts: 1, restart_delay: "0s" });
  await used(lone);
  lone.world.child.exit(1);
  await waitFor(() => lone.state === "running" && lone.world.children.length === 2);
  lone.world.child.exit(1);
  await waitFor(() => lone.state === "errored");
});

Deno.test("restart starts an app that waits for a client, and start leaves it waiting", async () => {
  await using lone = await waiting();
  await lone.process.start();
  assertEquals(lone.state, "waiting");
  await lone.process.restart();
  assertEquals(lone.state, "running");
});

Deno.test("a new supervisor goes on waiting for a client", async () => {
  await using first = await waiting();
  const { snapshot } = first.process;
  await using lone = new LoneProcess(CONFIG, snapshot);
  const exit = { code: 0, signal: null, at: new Date(lone.world.clock.now()) };
  const found = { kind: "ended", exit, random: 0 } as const;
  lone.process.post({ type: "recovered", at: lone.world.clock.now(), found });
  await used(lone);
});
