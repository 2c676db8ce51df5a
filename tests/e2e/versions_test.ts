import { assertEquals, assertStringIncludes } from "@std/assert";
import { isAlive, programWords } from "../support/procsup.ts";
import { UpgradeScene } from "../support/upgrade_scene.ts";
import { sealed, unsealed } from "../../src/platform/files/state_file.ts";
import { waitFor } from "../support/wait_for.ts";

/** The files of a folder, with their text. */
function filesIn(folder: string): Record<string, string> {
  const names = [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) =>
    name
  );
  return Object.fromEntries(
    names.map((name) => [name, Deno.readTextFileSync(`${folder}/${name}`)]),
  );
}

Deno.test("an older program advises installing the newer one, and downgrades only with --force", async () => {
  await using scene = new UpgradeScene();
  const newer = await scene.build("newer", "src/protocol/version.ts", '"0.1.0"', '"9.0.0"');
  assertEquals((await scene.run(newer, "daemon", "--detach")).code, 0);
  const before = await scene.startWriters(2);
  const listed = await scene.run(programWords(), "list");
  assertEquals(listed.code, 0);
  assertStringIncludes(
    listed.stderr,
    "The daemon is version 9.0.0, newer than this 0.1.0: install 9.0.0 here too",
  );

  const refused = await scene.run(programWords(), "upgrade");
  assertEquals(refused.code, 5);
  assertStringIncludes(refused.stderr, "Cannot upgrade the daemon from version 9.0.0 to the older");
  assertStringIncludes(refused.stderr, "procsup upgrade --force");
  assertEquals((await scene.client.call("ping")).version, "9.0.0");

  assertEquals((await scene.run(programWords(), "upgrade", "--force")).code, 0);
  assertEquals((await scene.client.call("ping")).version, "0.1.0");
  assertEquals(await scene.pids(), before);
});

Deno.test("an older program rejects the state of a newer daemon, running or not, and changes nothing", async () => {
  await using scene = new UpgradeScene();
  const newer = await scene.build(
    "newer",
    "src/platform/daemon_record.ts",
    "STATE_FORMAT = 1",
    "STATE_FORMAT = 2",
  );
  assertEquals((await scene.run(newer, "daemon", "--detach")).code, 0);
  await scene.startWriters(2);
  const pid = scene.daemonPid();
  for (const words of [["upgrade"], ["upgrade", "--force"]]) {
    const refused = await scene.run(programWords(), ...words);
    assertEquals(refused.code, 5);
    assertStringIncludes(refused.stderr, "wrote its state in format 2, and this");
  }
  assertEquals(scene.daemonPid(), pid);
  assertEquals((await scene.client.call("list")).length, 2);

  Deno.kill(pid, "SIGKILL");
  await waitFor(async () => !await scene.client.call("ping").then(() => true, () => false));
  const before = filesIn(`${scene.home}/state/processes`);
  for (const words of [["daemon"], ["daemon", "--detach"], ["start", "--", "sleep", "1"]]) {
    const refused = await scene.run(programWords(), ...words);
    assertEquals(refused.code, 5);
    assertStringIncludes(refused.stderr, "understands 1");
  }
  assertEquals(filesIn(`${scene.home}/state/processes`), before);
  assertEquals((await scene.run(newer, "daemon", "--detach")).code, 0);
  assertEquals((await scene.client.call("list")).map(({ state }) => state), ["running", "running"]);
});

Deno.test("a record of a newer version is rejected, not set aside", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  await scene.startWriters(1);
  const pid = scene.daemonPid();
  await scene.client.call("release");
  // It writes its records after its last answer.
  await waitFor(() => !isAlive(pid), { what: "the daemon to end" });
  const folder = `${scene.home}/state/processes`;
  const before = filesIn(folder);
  const [name = ""] = Object.keys(before).filter((name) => name.endsWith(".json"));
  const [first = ""] = before[name]!.split("\n");
  const newer = sealed({ ...unsealed(first) as object, version: 2 });
  Deno.writeTextFileSync(`${folder}/${name}`, newer);
  const refused = await scene.run(programWords(), "daemon");
  assertEquals(refused.code, 5);
  assertStringIncludes(
    refused.stderr,
    "Cannot read a record of version 2: a newer procsup wrote it",
  );
  assertEquals(filesIn(folder), { ...before, [name]: newer });
  Deno.writeTextFileSync(`${folder}/${name}`, before[name]!);
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  assertEquals((await scene.client.call("list")).map(({ state }) => state), ["running"]);
});
