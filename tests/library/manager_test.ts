/** Manager, operation by operation, through the library's entry point. */

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { AmbiguousTargetError, Manager, type ProcessInfo } from "../../src/mod.ts";
import { isAlive } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { cleanTest, codeOf, openManager, shell, sleeper, textOf, thrownCode } from "./support.ts";

cleanTest("New opens a manager whose defaults apply to its processes", async () => {
  await using opened = await openManager({
    defaults: { restartPolicy: "never", maxRestarts: 3, restWindow: "2m", stopTimeout: "7s" },
  });
  const { manager } = opened;
  const id = await manager.addProcess(sleeper("app"));
  const own = await manager.addProcess(sleeper("own", { maxRestarts: 9 }));
  const { config } = manager.inspect(id);
  assertEquals(
    [config.restartPolicy, config.maxRestarts, config.restartWindowMs, config.stopTimeoutMs],
    ["never", 3, 120_000, 7000],
  );
  assertEquals(manager.inspect(own).config.maxRestarts, 9);
});

cleanTest(
  "AddProcess starts a process and returns its id, or that of the first instance",
  async () => {
    await using opened = await openManager();
    const { manager } = opened;
    const id = await manager.addProcess({ name: "one", script: "/bin/sleep", args: ["1000"] });
    assertMatch(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    const info = manager.inspect(id);
    assertEquals([info.id, info.name, info.state, info.numericId], [id, "one", "running", 0]);
    assert(isAlive(info.pid));
    const first = await manager.addProcess(sleeper("many", { instances: 3 }));
    assertEquals(manager.inspect(first).name, "many:0");
    assertEquals(manager.list().map(({ name }) => name), ["one", "many:0", "many:1", "many:2"]);
    assertEquals(await codeOf(manager.addProcess(sleeper("one"))), "name_taken");
    assertEquals(
      await codeOf(manager.addProcess({ name: "bad", binary: "/no/such" })),
      "invalid_config",
    );
    assertEquals(await codeOf(manager.addProcess({ name: "none" })), "invalid_config");
    assertEquals(manager.list().length, 4);
  },
);

cleanTest("Stop terminates gracefully, and with SIGKILL after the timeout", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  const gentle = await manager.addProcess(
    shell("gentle", "trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done"),
  );
  const stubborn = await manager.addProcess(
    shell("stubborn", "trap '' TERM; echo up; while :; do sleep 0.05; done"),
  );
  for (const id of [gentle, stubborn]) {
    await waitFor(async () => (await textOf(manager.logs(id))) === "up\n");
  }
  await manager.stop(gentle, "5s");
  assertEquals([manager.inspect(gentle).state, manager.inspect(gentle).exitCode], ["stopped", 7]);
  await manager.stop(stubborn, "200ms");
  assertEquals(manager.inspect(stubborn).lastExit?.signal, "SIGKILL");
  await manager.stop(stubborn);
  assertEquals(await codeOf(manager.stop(gentle, "soon")), "bad_request");
  assertEquals(await codeOf(manager.stop("nobody")), "process_not_found");
});

cleanTest("ForceStop kills at once", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  const id = await manager.addProcess(sleeper("app", { stopTimeout: "1h" }));
  await manager.forceStop(id);
  const { state, lastExit, pid } = manager.inspect(id);
  assertEquals([state, lastExit?.signal, pid], ["stopped", "SIGKILL", 0]);
});

cleanTest("Restart and Reload start a new process and fire their hooks", async () => {
  await using opened = await openManager();
  const { manager, logDir } = opened;
  const note = (word: string) => `echo ${word} >>${logDir}/hooks`;
  const id = await manager.addProcess(sleeper("app", {
    hooks: {
      preRestart: note("pre_restart"),
      postRestart: note("post_restart"),
      preReload: note("pre_reload"),
      postReload: { command: note("post_reload"), timeout: "5s" },
    },
  }));
  const hooks = async () => (await Deno.readTextFile(`${logDir}/hooks`)).trim().split("\n");
  const before = manager.inspect(id).pid;
  await manager.restart(id);
  const between = manager.inspect(id).pid;
  assert(between !== before && !isAlive(before) && isAlive(between));
  await waitFor(async () => (await hooks()).length === 2);
  await manager.reload(id);
  assert(!isAlive(between));
  await waitFor(async () => (await hooks()).length === 4);
  assertEquals(await hooks(), ["pre_restart", "post_restart", "pre_reload", "post_reload"]);
  assertEquals(manager.inspect(id).restarts, 0);
});

cleanTest("Remove stops and unregisters, and keeps the logs", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  const id = await manager.addProcess(shell("app", "echo kept; exec sleep 1000"));
  const { pid } = manager.inspect(id);
  const path = manager.logPath(id);
  await waitFor(() => Deno.readTextFileSync(path) === "kept\n");
  await manager.remove(id);
  assert(!isAlive(pid));
  assertEquals(manager.list(), []);
  assertEquals(thrownCode(() => manager.inspect(id)), "process_not_found");
  assertEquals(Deno.readTextFileSync(path), "kept\n");
});

cleanTest("List and Inspect return every field", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  const id = await manager.addProcess(sleeper("app", { tags: ["a"], namespace: "group" }));
  await waitFor(() => manager.inspect(id).memBytes > 0, { what: "the usage" });
  const info: ProcessInfo = manager.inspect(id);
  assertEquals(manager.list().map((each) => each.id), [id]);
  assertEquals([info.namespace, info.instanceIndex, info.runtime, info.tags], ["group", 0, "auto", [
    "a",
  ]]);
  assert(info.createdAt instanceof Date && info.startedAt instanceof Date);
  assertEquals([info.finishedAt, info.exitCode, info.restarts], [null, 0, 0]);
  assert(info.uptimeMs >= 0 && info.threads >= 1 && info.cpuPercent >= 0 && info.memPercent >= 0);
  await manager.stop(id);
  assert(manager.inspect(id).finishedAt instanceof Date);
});

cleanTest("Inspect finds a process by UUID, numeric id, name and unique prefix", async () => {
  await using opened = await openManager();
  const { manager } = opened;
  const first = await manager.addProcess(sleeper("app-0"));
  for (const target of [first, "0", "app-0", first.slice(0, 30)]) {
    assertEquals(manager.inspect(target).id, first, target);
  }
  await manager.addProcess({ ...sleeper("pair"), instances: 2 });
  const error = assertThrows(() => manager.inspect("pair"), AmbiguousTargetError);
  assertEquals([error.code, error.matches], ["ambiguous_target", ["pair:0", "pair:1"]]);
  assertEquals(thrownCode(() => manager.inspect("zzz")), "process_not_found");
  assertEquals(thrownCode(() => manager.inspect("")), "bad_request");
});

cleanTest("Logs returns the whole log, the last lines, those of stderr, and new ones", async () => {
  await using opened = await openManager();
  const { manager, logDir } = opened;
  const id = await manager.addProcess(
    shell(
      "talker",
      `seq 1 100; echo oops >&2; while [ ! -e ${logDir}/gate ]; do sleep 0.05; done; echo later; exec sleep 1000`,
    ),
  );
  await waitFor(async () => (await textOf(manager.logs(id))).endsWith("100\n"));
  await waitFor(async () => (await textOf(manager.logs(id, { stderr: true }))) === "oops\n");
  assertEquals((await textOf(manager.logs(id))).split("\n").length, 101);
  assertEquals(await textOf(manager.logs(id, { tail: 2 })), "99\n100\n");

  const stop = new AbortController();
  let followed = "";
  const ended = (async () => {
    const stream = manager.logs("talker", { tail: 1, follow: true, signal: stop.signal });
    for await (const text of stream.pipeThrough(new TextDecoderStream())) followed += text;
  })();
  await waitFor(() => followed === "100\n");
  await Deno.writeTextFile(`${logDir}/gate`, "");
  await waitFor(() => followed === "100\nlater\n");
  stop.abort();
  await ended;
  assertEquals(await textOf(manager.logs(id, { signal: AbortSignal.abort() })), "");
  const over = new AbortController();
  let count = 0;
  for await (const _ of manager.lines(id, { follow: true, signal: over.signal })) {
    if (++count === 2) over.abort();
  }
  assertEquals(count, 2);
  assertEquals(thrownCode(() => manager.logs("nobody")), "process_not_found");
});

cleanTest("LogPath and LogPathStderr name the files in the directory", async () => {
  await using opened = await openManager();
  const { manager, logDir } = opened;
  const id = await manager.addProcess(sleeper("app"));
  assertEquals(manager.logPath(id), `${logDir}/apps/app/stdout.log`);
  assertEquals(manager.logPathStderr("app"), `${logDir}/apps/app/stderr.log`);
});

cleanTest("Save and Resurrect restore the processes in a second manager", async () => {
  await using home = tempHome();
  let id: string;
  {
    await using manager = await Manager.open({ logDir: home.path });
    id = await manager.addProcess(sleeper("kept", { env: { A: "1" } }));
    await manager.addProcess(sleeper("idle"));
    await manager.stop("idle");
    assertEquals(await manager.save(), 2);
  }
  await using manager = await Manager.open({ logDir: home.path });
  assertEquals(manager.list(), []);
  assertEquals(await manager.resurrect(), { count: 2, errors: [] });
  const { state, config } = manager.inspect(id);
  assertEquals([state, config.env], ["running", { A: "1" }]);
  assertEquals(manager.inspect("idle").state, "stopped");
  assertEquals(await manager.resurrect(), { count: 0, errors: [] });
});

Deno.test("run() returns all output of a job, even what was rotated meanwhile", async () => {
  await using opened = await openManager();
  const archive = `${opened.logDir}/apps/job/stdout.log.`;
  // The last lines arrive when the first ones are already archived.
  const script = `seq 50000; until ls ${archive}* >/dev/null 2>&1; do sleep 0.02; done; seq 3`;
  const log = { maxSize: "64KB", maxFiles: 1000 };
  const { stdout } = await opened.manager.run({ ...shell("job", script), log });
  assertEquals(
    stdout.length,
    Array.from({ length: 50_000 }, (_, n) => `${n + 1}\n`).join("").length + 5,
  );
});
