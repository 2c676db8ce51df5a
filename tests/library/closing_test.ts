/** Closing a manager, and the operations that fail afterwards. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { BY_OUR_NAMES } from "../support/link_library.ts";
import { Manager, type ProcessChange, ProcsupError } from "../../src/mod.ts";
import { sleep } from "../../src/platform/clock.ts";
import { processRow } from "../../src/platform/scan/process_table.ts";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { cleanTest, codeOf, openManager, sleeper, textOf, thrownCode } from "./support.ts";

cleanTest("Close stops all processes, even when called several times at once", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  await manager.addProcess(sleeper("app", { instances: 3 }));
  const pids = manager.list().map(({ pid }) => pid);
  await Promise.all([manager.close(), manager.close()]);
  await manager.close();
  await manager[Symbol.asyncDispose]();
  assertEquals(pids.filter(isAlive), []);
});

cleanTest("Close during AddProcess leaves nothing behind", async () => {
  for (let turn = 0; turn < 10; turn++) {
    await using home = tempHome();
    const manager = await Manager.open({ logDir: home.path });
    const added = codeOf(
      manager.addProcess(sleeper("app", { instances: 4, env: { HOME_OF: home.path } })),
    );
    // At a point of its start that varies by round.
    for (let step = 0; step < turn * 3; step++) await Promise.resolve();
    await manager.close();
    assert(["none", "closed", "start_failed"].includes(await added), await added);
    assertEquals(strays(home.path), []);
    const next = await Manager.open({ logDir: home.path });
    assertEquals(next.list(), []);
    await next.close();
  }
});

cleanTest("Close during a start, restart or reload that waits ends it with closed", async () => {
  for (const verb of ["start", "restart", "reload"] as const) {
    const opened = await openManager();
    const { manager, logDir } = opened;
    const command = `[ ! -e "${logDir}/hold" ]`;
    await manager.start(
      sleeper("app", { waitReady: true, healthCheck: { type: "command", command } }),
      { wait: true },
    );
    if (verb === "start") await manager.stop("app");
    Deno.writeTextFileSync(`${logDir}/hold`, "");
    const code = codeOf(manager[verb]("app", { wait: true }));
    await waitFor(() => manager.inspect("app").state === "starting", { what: "the start" });
    await opened[Symbol.asyncDispose]();
    assertEquals(await code, "closed", verb);
  }
});

/** The pids whose environment names a directory. */
function strays(path: string): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    try {
      return pid > 0 && Deno.readTextFileSync(`/proc/${pid}/environ`).includes(`HOME_OF=${path}`) &&
        isAlive(pid);
    } catch {
      return false;
    }
  });
}

cleanTest(
  "a handle has no pid after Close, or the pid of an app that was left running",
  async () => {
    for (const onExit of ["stop", "leave"] as const) {
      await using home = tempHome();
      const manager = await Manager.open({ logDir: home.path, onExit });
      const app = await manager.start(sleeper("app"));
      const { pid } = app;
      await manager.close();
      const left = onExit === "leave";
      assertEquals([app.state, app.pid], left ? ["running", pid] : ["stopped", 0]);
      if (left) await (await Manager.open({ logDir: home.path })).close();
    }
  },
);

cleanTest("every operation throws closed after Close", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  const id = await manager.addProcess(sleeper("app"));
  await manager.close();
  for (
    const act of [
      () => manager.addProcess(sleeper("other")),
      () => manager.stop(id),
      () => manager.forceStop(id),
      () => manager.restart(id),
      () => manager.reload(id),
      () => manager.remove(id),
      () => manager.flush(id),
      () => manager.save(),
      () => manager.resurrect(),
    ]
  ) assertEquals(await codeOf(act()), "closed", String(act));
  for (
    const act of [
      () => manager.list(),
      () => manager.inspect(id),
      () => manager.logs(id),
      () => manager.logPath(id),
      () => manager.logPathStderr(id),
      () => manager.events(),
    ]
  ) assertEquals(thrownCode(act), "closed", String(act));
});

cleanTest(
  "a second manager on the same directory is rejected until the first is closed",
  async () => {
    await using opened = await openManager();
    const error = await assertRejects(
      () => Manager.open({ logDir: opened.logDir }),
      ProcsupError,
      "in use",
    ) as unknown as ProcsupError;
    assertEquals(error.code, "home_in_use");
    await opened.manager.close();
    await (await Manager.open({ logDir: opened.logDir })).close();
  },
);

cleanTest("an aborted wait rejects with its reason, and the operation continues", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  const before = AbortSignal.abort(new Error("not now"));
  await assertRejects(
    () => manager.addProcess(sleeper("never"), { signal: before }),
    Error,
    "not now",
  );
  assertEquals(manager.list(), []);
  const id = await manager.addProcess({
    ...sleeper("slow"),
    args: ["-c", "trap 'sleep 0.5; exit 0' TERM; echo up; while :; do sleep 0.05; done"],
  });
  const ups = async () => (await textOf(manager.logs(id))).length / "up\n".length;
  for (const [turn, act] of (["restart", "reload"] as const).entries()) {
    await waitFor(async () => await ups() === turn + 1, { what: "its trap to be set" });
    const stop = new AbortController();
    const { pid } = manager.inspect(id);
    const acted = codeOf(manager[act](id, { signal: stop.signal }));
    await waitFor(() => manager.inspect(id).state === "stopping");
    stop.abort(new Error("enough"));
    assertStringIncludes(await acted, "enough");
    await waitFor(() => manager.inspect(id).state === "running" && manager.inspect(id).pid !== pid);
  }
  for (const act of ["stop", "forceStop", "remove"] as const) {
    const aborted = { signal: before };
    assertStringIncludes(await codeOf(manager[act](id, aborted)), "not now");
  }
  assertEquals(manager.inspect(id).state, "running");
  const aborted = { signal: before };
  for (const act of ["save", "resurrect"] as const) {
    assertStringIncludes(await codeOf(manager[act](aborted)), "not now");
  }
  assertStringIncludes(await codeOf(manager.flush(id, aborted)), "not now");
  await using home = tempHome();
  assertStringIncludes(await codeOf(Manager.open({ logDir: home.path }, aborted)), "not now");
});

cleanTest("an aborted Manager.open() releases its directory", async () => {
  await using home = tempHome();
  const stop = new AbortController();
  const opening = codeOf(Manager.open({ logDir: home.path }, { signal: stop.signal }));
  stop.abort(new Error("enough"));
  assertStringIncludes(await opening, "enough");
  await waitFor(async () => {
    await (await Manager.open({ logDir: home.path })).close();
    return true;
  }, { what: "the directory to be free" });
});

cleanTest("only one of a manager and a daemon can use a directory at a time", async () => {
  await using daemon = await TestDaemon.start();
  assertEquals(await codeOf(Manager.open({ logDir: daemon.home })), "home_in_use");
  await daemon.startScript("app", "exec sleep 1000");
  const { pid } = await daemon.status("app");
  await daemon.terminate();
  const manager = await Manager.open({ logDir: daemon.home });
  assertEquals(manager.inspect("app").pid, pid);
  const refused = await daemon.cli("daemon");
  assertEquals(refused.code, 6);
  assertStringIncludes(refused.stderr, "in use by ");
  manager.release();
  await daemon.run();
  assertEquals((await daemon.status("app")).pid, pid);
});

cleanTest("events yields events until it is aborted, cancelled or closed", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  const stop = new AbortController();
  const told: ProcessChange[] = [];
  const ended = (async () => {
    for await (const change of manager.events({ signal: stop.signal })) told.push(change);
  })();
  const untilClose = Array.fromAsync(manager.events());
  const id = await manager.addProcess(sleeper("app"));
  await manager.stop(id);
  await waitFor(() => told.at(-1)?.type === "stopped");
  assertEquals(told.map(({ type }) => type), [
    "added",
    "starting",
    "running",
    "stopping",
    "stopped",
  ]);
  assert(
    told.every((change) => change.id === id && change.name === "app" && change.at instanceof Date),
  );
  stop.abort();
  await ended;
  await manager.events().cancel();
  await manager.remove(id);
  await manager.close();
  assertEquals((await untilClose).at(-1)?.type, "deleted");
});

cleanTest(
  "a released manager leaves its processes to the next one, whatever state they are in",
  async () => {
    await using opened = await openManager();
    const { manager, logDir } = opened;
    const own = { env: { HOME_OF: logDir }, minUptime: "10ms", restartDelay: "10ms" };
    await manager.addProcess(sleeper("app", own));
    const followed = textOf(manager.logs("app", { follow: true }));
    const waited = codeOf(manager.wait("app", { for: "stopped" }));
    manager.release();
    assertEquals([await followed, await waited], ["", "closed"]);
    const next = await Manager.open({ logDir });
    Deno.kill(next.inspect("app").pid, "SIGKILL");
    await waitFor(() => next.inspect("app").restarts === 1 && next.inspect("app").pid > 0);
    // A mistaken start by the first manager would come after its delay of 10 ms.
    let most = 0;
    for (let turn = 0; turn < 10; turn++) {
      await sleep(20);
      most = Math.max(most, strays(logDir).length);
    }
    await next.close();
    assertEquals(most, 2, "the app and its wrapper");
    assertEquals(strays(logDir), []);
  },
);

cleanTest("Close waits for running hooks", async () => {
  await using opened = await openManager();
  const { manager, logDir } = opened;
  await manager.addProcess(sleeper("app", {
    hooks: { postStart: `sleep 0.2; echo done >${logDir}/hook` },
  }));
  await manager.close();
  assertEquals(Deno.readTextFileSync(`${logDir}/hook`), "done\n");
});

/** A program with its own manager, and the pid of its app. */
async function program(
  logDir: string,
  options: object,
  end: string,
  command = "sleep 1000",
) {
  const source = `
    import { Manager } from "${new URL("../../src/mod.ts", import.meta.url)}";
    const config = ${JSON.stringify({ logDir, ...options })};
    const manager = await Manager.open(config);
    const app = await manager.start({ name: "app", command: ${JSON.stringify(command)} });
    console.log(String(app.pid));
    ${end}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      ...BY_OUR_NAMES,
      "--no-check",
      "--ext=ts",
      `data:,${encodeURIComponent(source)}`,
    ],
    stdout: "piped",
    stderr: "inherit",
    signal: AbortSignal.timeout(60_000),
  }).spawn();
  const { code, signal, stdout } = await child.output();
  return { code, signal, pid: Number(new TextDecoder().decode(stdout)) };
}

Deno.test("a runtime that ends before its process leaves an app and its wrapper", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using home = tempHome();
  const source = `
    import { Manager } from "${new URL("../../src/mod.ts", import.meta.url)}";
    const manager = await Manager.open({ logDir: "${home.path}", onExit: "leave" });
    const app = await manager.start({ name: "app", command: "sleep 1000" });
    self.postMessage(app.pid);`;
  const module = `data:application/typescript,${encodeURIComponent(source)}`;
  const worker = new Worker(module, { type: "module" });
  const pid = await new Promise<number>((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
  });
  const wrapper = processRow(pid)!.ppid;
  worker.terminate();
  let next: Manager | undefined;
  await waitFor(async () => next = await Manager.open({ logDir: home.path }));
  assertEquals(processRow(pid)?.ppid, wrapper);
  await next!.close();
  assertEquals([pid, wrapper].filter(isAlive), []);
});

cleanTest("a signal that is listed twice does not kill the processes at once", async () => {
  await using home = tempHome();
  const command = `trap 'sleep 0.2; touch ended; exit' TERM; sleep 1000 & wait`;
  const signals = ["SIGTERM", "TERM", "SIGTERM"];
  const end = "setTimeout(() => Deno.kill(Deno.pid, 'SIGTERM'), 200); setTimeout(() => {}, 9000);";
  const { signal } = await program(home.path, { signals }, end, `cd ${home.path}; ${command}`);
  assertEquals([signal, Deno.statSync(`${home.path}/ended`).isFile], ["SIGTERM", true]);
});

cleanTest("the exit of a program stops its processes, or leaves them running", async () => {
  const kill = "Deno.kill(Deno.pid, 'SIGTERM'); setTimeout(() => {}, 9000);";
  for (
    const [options, end, ended, lives] of [
      [{ signals: true }, kill, "SIGTERM", false],
      [{ signals: ["SIGTERM"], onExit: "leave" }, kill, "SIGTERM", true],
      [{ onExit: "leave" }, "await manager.close();", 0, true],
      [{}, "Deno.exit(3);", 3, false],
    ] as const
  ) {
    await using home = tempHome();
    const { code, signal, pid } = await program(home.path, options, end);
    assertEquals(signal ?? code, ended);
    await waitFor(() => isAlive(pid) === lives, { what: `${end} to have its effect` });
    await using next = await Manager.open({ logDir: home.path });
    if (lives) assertEquals(next.inspect("app").pid, pid);
  }
  const wrong = { onExit: "kill" as "stop" };
  assertEquals(await codeOf(Manager.open(wrong)), "invalid_config");
});

Deno.test("the next manager completes the Close of a killed program", async () => {
  await using home = tempHome();
  const [mod, hold] = [import.meta.resolve("../../src/mod.ts"), `${home.path}/asked`];
  const script =
    `trap 'touch ${hold}; while [ ! -e ${home.path}/go ]; do sleep 0.02; done; exit 0' TERM; ` +
    "while :; do sleep 0.02; done";
  const program = `import { Manager } from "${mod}";
    const manager = await Manager.open({ logDir: "${home.path}" });
    const app = { binary: "/bin/sh", args: ["-c", ${
    JSON.stringify(script)
  }], cwd: "/", stopTimeout: "1m" };
    await manager.addProcess({ ...app, name: "db" }, { wait: true });
    await manager.addProcess({ ...app, name: "web", dependsOn: ["db"] }, { wait: true });
    await manager.close();`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", program],
    ...{ stdin: "null", stdout: "null", stderr: "inherit" },
  }).spawn();
  await waitFor(() => lstatIfAny(hold), { what: "the stop signal" });
  child.kill("SIGKILL");
  await child.status;
  Deno.writeTextFileSync(`${home.path}/go`, "");
  const next = await Manager.open({ logDir: home.path });
  await waitFor(() => next.list().length === 0, { what: "an empty list" });
  await next.close();
});
