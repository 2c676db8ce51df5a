import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { readDaemonRecord, recordPath } from "../../src/platform/daemon_record.ts";
import { sealed } from "../../src/platform/files/state_file.ts";
import { isAlive, programWords } from "../support/procsup.ts";
import { UpgradeScene } from "../support/upgrade_scene.ts";
import { waitFor } from "../support/wait_for.ts";

const WRITERS = 10;

Deno.test("upgrade replaces the daemon under 10 writers: same pids, no line lost", async () => {
  await using scene = new UpgradeScene();
  const old = await scene.build("old", "src/protocol/version.ts", '"0.1.0"', '"0.0.9"');
  assertEquals((await scene.run(old, "daemon", "--detach")).code, 0);
  const before = await scene.startWriters(WRITERS);
  const listed = await scene.run(programWords(), "list");
  assertEquals(listed.code, 0);
  assertMatch(listed.stderr, /The daemon is version 0\.0\.9, this is .*: run procsup upgrade/);

  const upgraded = await scene.run(programWords(), "upgrade");
  assertEquals(upgraded.code, 0, upgraded.stderr);
  assertMatch(upgraded.stdout, /daemon 0\.0\.9 → .*, 10 of 10 apps up/);
  assertEquals((await scene.client.call("ping")).version, "0.1.0");
  assertEquals(await scene.pids(), before);
  assertStringIncludes((await scene.run(programWords(), "upgrade")).stdout, "already");
  await scene.assertNothingLost(WRITERS);
});

Deno.test("a failed upgrade restores the old daemon", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  const broken = await scene.build(
    "broken",
    "src/daemon/daemon.ts",
    "const server = serveSocket(",
    'if (paths) throw new Error("Broken on purpose");\n  const server = serveSocket(',
  );
  const before = await scene.startWriters(WRITERS);
  const upgraded = await scene.run(broken, "upgrade");
  assertEquals(upgraded.code, 1);
  assertStringIncludes(upgraded.stderr, "the old daemon was restored and no app was affected");
  assertEquals(await scene.pids(), before);
  for (const pid of before.values()) assert(isAlive(pid));
  await scene.assertNothingLost(WRITERS);
});

Deno.test("commands given during an upgrade are carried out by the next daemon, also a second upgrade", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  const before = await scene.startWriters(2);
  const over = new AbortController();
  const upgrades = Promise.all(
    [1, 2].map(() => scene.run(programWords(), "upgrade", "--force")),
  ).finally(() => over.abort());
  const asks = async (ask: () => Promise<unknown>) => {
    let count = 0;
    for (; !over.signal.aborted; count++) await ask();
    return count;
  };
  const scales = async () => {
    const { code, stderr } = await scene.run(programWords(), "scale", "w1", "1");
    assertEquals(code, 0, stderr);
  };
  const counts = await Promise.all([asks(() => scene.client.call("list")), asks(scales)]);
  for (const { code, stderr } of await upgrades) assertEquals(code, 0, stderr);
  assert(counts.every((count) => count > 0), `${counts}`);
  assertEquals((await scene.pids()).get("w0"), before.get("w0"));
});

Deno.test("every command except upgrade rejects a daemon with another protocol", async () => {
  await using scene = new UpgradeScene();
  const old = await scene.build("old", "src/protocol/version.ts", "PROTOCOL = 1", "PROTOCOL = 0");
  assertEquals((await scene.run(old, "daemon", "--detach")).code, 0);
  for (const words of [["list"], ["stop", "all"], ["logs"], ["save"]]) {
    const refused = await scene.run(programWords(), ...words);
    assertEquals(refused.code, 5);
    assertStringIncludes(refused.stderr, "they speak protocols 0 and 1");
    assertStringIncludes(refused.stderr, "hint: procsup upgrade");
  }
  assertEquals((await scene.run(programWords(), "upgrade")).code, 0);
  assertEquals((await scene.run(programWords(), "list")).code, 0);
});

Deno.test("a start interrupted by an upgrade is not sent twice, and completes", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  const script = `${scene.home}/app.sh`;
  Deno.writeTextFileSync(script, "while [ ! -e go ]; do sleep 0.1; done; echo up; exec sleep 99");
  const words = ["start", "/bin/sh", "--name", "app", "--ready-log", "up", "--cwd", scene.home];
  const start = scene.run(programWords(), ...words, "--", script);
  await waitFor(async () => (await scene.pids()).has("app"), { what: "the app to start" });
  assertEquals((await scene.run(programWords(), "upgrade", "--force")).code, 0);
  const { code, stderr } = await start;
  assertEquals(code, 5);
  assertStringIncludes(stderr, "The daemon closed the connection before it answered");
  Deno.writeTextFileSync(`${scene.home}/go`, "");
  const state = async () => (await scene.client.call("status", "app")).state;
  await waitFor(async () => await state() === "running", { what: "the app to be ready" });
});

Deno.test("upgrade keeps no copy of the old executable once the new daemon answers", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  // One word: an executable by `deno compile`, which upgrade copies, as it may have been replaced.
  const record = { ...readDaemonRecord(scene.home)!, words: ["/usr/local/bin/procsup"] };
  Deno.writeTextFileSync(recordPath(scene.home), sealed(record));
  const { code, stderr } = await scene.run(programWords(), "upgrade");
  assertEquals([code, stderr], [0, ""]);
  const left = [...Deno.readDirSync(`${scene.home}/state`)].map(({ name }) => name);
  assertEquals(left.filter((name) => name.includes("procsup")), []);
});
