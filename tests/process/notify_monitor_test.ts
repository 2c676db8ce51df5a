/** What an app that reports by sd_notify makes its supervisor do. */

import { assertEquals, assertRejects } from "@std/assert";
import { NEW_MAIN_LINE } from "../../src/model/notice.ts";
import { NEW, type Snapshot } from "../../src/model/process_state.ts";
import { waitFor } from "../support/wait_for.ts";
import { LoneProcess } from "./lone_process.ts";

async function running(config: Record<string, unknown>): Promise<LoneProcess> {
  const lone = new LoneProcess(config);
  lone.process.start().catch(() => {});
  await waitFor(() => lone.world.children.length === 1, { what: "the launch" });
  if (config.wait_ready) lone.world.notify("READY=1");
  await waitFor(() => lone.state === "running");
  return lone;
}

Deno.test("READY=1 by sd_notify makes an app with wait_ready ready, unless something else decides", async () => {
  await using lone = await running({ wait_ready: true });
  assertEquals(lone.world.child.spec!.env.NOTIFY_SOCKET, lone.world.child.spec!.notify);
  await using other = new LoneProcess({ notify: true, ready_delay: "5s" });
  void other.process.start().catch(() => {});
  await waitFor(() => other.world.children.length === 1);
  other.world.notify("READY=1");
  assertEquals(other.state, "starting");
});

Deno.test("NOTIFY_SOCKET is given when it is asked for, or nothing else says that an app is ready", async () => {
  const health_check = { type: "command", command: "true" };
  for (
    const [config, isGiven] of [
      [{}, false],
      [{ notify: true }, true],
      [{ watchdog: "5s" }, true],
      [{ wait_ready: true }, true],
      [{ wait_ready: true, notify: false }, false],
      [{ wait_ready: true, health_check }, false],
      [{ ready_log: "up" }, false],
    ] as const
  ) {
    await using lone = new LoneProcess(config);
    void lone.process.start().catch(() => {});
    await waitFor(() => lone.world.children.length === 1);
    const { env } = lone.world.child.spec!;
    assertEquals("NOTIFY_SOCKET" in env, isGiven, JSON.stringify(config));
    assertEquals(env.WATCHDOG_USEC, "watchdog" in config ? "5000000" : undefined);
  }
});

Deno.test("EXTEND_TIMEOUT_USEC extends the time for becoming ready, and does not shorten it", async () => {
  await using lone = new LoneProcess({ wait_ready: true, listen_timeout: "10s" });
  lone.process.start().catch(() => {});
  await waitFor(() => lone.world.children.length === 1);
  lone.world.notify("EXTEND_TIMEOUT_USEC=1000000");
  lone.world.clock.advance(9000);
  lone.world.notify("EXTEND_TIMEOUT_USEC=20000000");
  lone.world.clock.advance(19_999);
  assertEquals(lone.state, "starting");
  lone.world.clock.advance(1);
  await waitFor(() => lone.state !== "starting");
});

Deno.test("an app that misses its watchdog is ended by SIGABRT, and its policy decides", async () => {
  for (const [policy, after] of [["never", "crashed"], ["on-failure", "waiting"]] as const) {
    await using lone = await running({ watchdog: "10s", restart_policy: policy });
    const { clock } = lone.world;
    for (let round = 0; round < 5; round++) {
      clock.advance(9000);
      lone.world.notify("WATCHDOG=1");
    }
    assertEquals(lone.state, "running");
    clock.advance(9999);
    // Unread, as while the supervisor was suspended.
    const notices = lone.world.notices(lone.process.snapshot.run!)!;
    notices.unread = "WATCHDOG=1";
    clock.advance(1);
    assertEquals(lone.state, "running");
    clock.advance(10_000);
    await waitFor(() => lone.state === after);
    assertEquals(lone.world.ends, ["SIGABRT"]);
    assertEquals(lone.process.info().lastReason, "no WATCHDOG=1 for 10s");
  }
});

Deno.test("no watchdog expires once nobody reads the socket: the app cannot be heard", async () => {
  await using lone = await running({ watchdog: "10s" });
  lone.world.notices(lone.process.snapshot.run!)!.hasReader = false;
  lone.world.clock.advance(60_000);
  assertEquals([lone.state, lone.world.clock.pending], ["running", 0]);
  assertEquals(lone.notes, ["its NOTIFY_SOCKET is not read any more: its watchdog is off"]);
});

Deno.test("the watchdog begins with readiness, and its interval is the app's to change", async () => {
  await using lone = new LoneProcess({ watchdog: "10s", wait_ready: true, listen_timeout: "1h" });
  lone.process.start().catch(() => {});
  const { clock } = lone.world;
  await waitFor(() => lone.world.children.length === 1);
  clock.advance(60_000);
  assertEquals(lone.state, "starting");
  lone.world.notify("READY=1\nWATCHDOG_USEC=60000000");
  await waitFor(() => lone.state === "running");
  await waitFor(() => clock.pending === 1);
  clock.advance(59_999);
  assertEquals(lone.state, "running");
  lone.world.notify("WATCHDOG_USEC=0");
  clock.advance(600_000);
  assertEquals([lone.state, clock.pending], ["running", 0]);
});

Deno.test("an app that says STOPPING=1 has its stop_timeout, without its watchdog", async () => {
  await using lone = await running({ watchdog: "1s", stop_timeout: "10s" });
  lone.world.notify("STOPPING=1");
  lone.world.clock.advance(9999);
  assertEquals(lone.state, "running");
  lone.world.clock.advance(1);
  await waitFor(() => lone.state === "waiting");
  const { lastReason } = lone.process.info();
  assertEquals(lastReason, "said STOPPING=1 and did not end within 10s");
});

Deno.test("the end that STOPPING=1 announces is awaited, whatever else the app says", async () => {
  const ways = {
    "read late": (lone: LoneProcess) => {
      lone.world.notices(lone.process.snapshot.run!)!.unread = "STOPPING=1";
      lone.world.clock.advance(1000);
    },
    "with another interval": (lone: LoneProcess) =>
      lone.world.notify("STOPPING=1\nWATCHDOG_USEC=2000000"),
    "by a silent new main process": (lone: LoneProcess) =>
      lone.world.notify(`${NEW_MAIN_LINE}\nSTOPPING=1\nWATCHDOG=1`),
  };
  for (const [how, say] of Object.entries(ways)) {
    await using lone = await running({ watchdog: "1s", stop_timeout: "10s" });
    await waitFor(() => lone.world.clock.pending === 1);
    say(lone);
    assertEquals([lone.state, lone.world.clock.pending], ["running", 1], how);
    lone.world.clock.advance(10_000);
    await waitFor(() => lone.state === "waiting");
    const { lastReason } = lone.process.info();
    assertEquals(lastReason, "said STOPPING=1 and did not end within 10s", how);
  }
});

Deno.test("a new main process lives on after STOPPING=1 of the former one, and its watchdog begins with WATCHDOG=1", async () => {
  await using lone = await running({ watchdog: "1s", stop_timeout: "10s" });
  const { clock } = lone.world;
  lone.world.notify(`STOPPING=1\n${NEW_MAIN_LINE}`);
  clock.advance(60_000);
  assertEquals([lone.state, clock.pending], ["running", 0]);
  lone.world.notify("WATCHDOG=1");
  await waitFor(() => clock.pending === 1);
  clock.advance(1000);
  await waitFor(() => lone.state === "waiting");
  assertEquals(lone.process.info().lastReason, "no WATCHDOG=1 for 1s");
});

Deno.test("a reload signal is done at READY=1, if the app says RELOADING=1", async () => {
  await using lone = await running({ notify: true, reload_signal: "SIGHUP" });
  const { clock } = lone.world;
  for (const end of ["in time", "too late"] as const) {
    const reload = lone.process.reload();
    await waitFor(() => lone.process.snapshot.requestStep === "proof");
    lone.world.notify("RELOADING=1");
    clock.advance(29_000);
    assertEquals(lone.process.snapshot.requestStep, "reloading");
    if (end === "in time") {
      lone.world.notify("READY=1");
      await reload;
      continue;
    }
    const failing = assertRejects(() => reload, Error, "has not said READY=1 within 30s");
    clock.advance(1000);
    await failing;
  }
  assertEquals([lone.state, lone.world.child.signals], ["running", ["SIGHUP", "SIGHUP"]]);
});

Deno.test("a reload signal to an app that does not say RELOADING=1 is done when it has survived it", async () => {
  await using lone = await running({ notify: true, reload_signal: "SIGHUP", min_uptime: "3s" });
  const reload = lone.process.reload();
  await waitFor(() => lone.process.snapshot.requestStep === "proof");
  lone.world.clock.advance(3000);
  await reload;
});

Deno.test("a new supervisor finds the end of a reload that the last one began", async () => {
  const run = {
    ...{ runId: "run", wrapperPid: 1000, wrapperStart: "1", bootId: "boot" },
    notify: true,
  } as const;
  const request = { verb: "reload", reason: "", unchanged: true } as const;
  const left: Snapshot = {
    ...{ ...NEW, state: "running", desired: "up", attempt: 1, run, pid: 1001, ready: true },
    ...{ requests: [request], requestStep: "reloading" },
  };
  for (const [said, step] of [["RELOADING=1", "reloading"], ["RELOADING=1\nREADY=1", null]]) {
    await using lone = new LoneProcess({ notify: true, reload_signal: "SIGHUP" }, left);
    lone.world.notify(said!, run);
    const found = { kind: "alive", run, pid: 1001 } as const;
    lone.process.post({ type: "recovered", at: lone.world.clock.now(), found });
    await waitFor(() => lone.process.snapshot.requestStep === step);
    assertEquals(lone.state, "running");
  }
});

Deno.test("the status of an app is its own last words about it", async () => {
  await using lone = await running({ notify: true });
  assertEquals(lone.process.info().statusText, undefined);
  lone.world.notify("STATUS=1 client\nSTATUS=2 clients");
  assertEquals(lone.process.info().statusText, "2 clients");
  await lone.process.stop();
  assertEquals(lone.process.info().statusText, undefined);
});

Deno.test("a watchdog without a socket is refused", async () => {
  await using lone = new LoneProcess({ watchdog: "1s", notify: false });
  await assertRejects(() => lone.process.start(), Error, "watchdog needs notify, which is false");
});
