/** The saved list: never replaced by an emptier one, and restored in order. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { NEW } from "../../src/model/process_state.ts";
import { Records } from "../../src/manager/records.ts";
import { loadState } from "../../src/manager/saved_state.ts";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { flip } from "../support/damage.ts";
import { tempHome } from "../support/temp_home.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

/** The names in each generation, newest first; undefined if unreadable. */
function generations(home: string): (string[] | undefined)[] {
  return ["saved.json", "saved.1.json", "saved.2.json"].map((name) => {
    const alone = `${home}/state/alone.json`;
    try {
      Deno.copyFileSync(`${home}/state/${name}`, alone);
    } catch {
      return undefined;
    }
    const { records } = loadState(alone);
    Deno.removeSync(alone);
    return records.map(({ identity }) => identity.name);
  });
}

Deno.test("save() keeps two generations, each different", async () => {
  await using test = await TestManager.open();
  for (const name of ["a", "b", "c", "d"]) {
    await test.script(name, "exec sleep 1000");
    await test.manager.save();
  }
  assertEquals(generations(test.home), [["a", "b", "c", "d"], ["a", "b", "c"], ["a", "b"]]);
});

Deno.test("a failed save() changes no generation, however often it is repeated", async () => {
  await using test = await TestManager.open();
  for (const name of ["a", "b", "c"]) {
    await test.script(name, "exec sleep 1000");
    await test.manager.save();
  }
  const before = generations(test.home);
  // Prevents writing, as on a full disk.
  Deno.mkdirSync(`${test.home}/state/saved.json.tmp/x`, { recursive: true });
  for (let round = 0; round < 4; round++) {
    await assertRejects(() => test.manager.save(), ProcsupError, "Cannot save the list");
  }
  assertEquals(generations(test.home), before);
  // Prevents moving what was written, which must not use up the disk.
  Deno.removeSync(`${test.home}/state/saved.json.tmp`, { recursive: true });
  Deno.removeSync(`${test.home}/state/saved.2.json`);
  Deno.mkdirSync(`${test.home}/state/saved.2.json/x`, { recursive: true });
  await assertRejects(() => test.manager.save(), ProcsupError, "Cannot save the list");
  const names = [...Deno.readDirSync(`${test.home}/state`)].map(({ name }) => name);
  const saved = names.filter((name) => name.startsWith("saved"));
  assertEquals(saved.sort(), ["saved.1.json", "saved.2.json", "saved.json"]);
});

for (const generation of ["saved.json", "saved.1.json"]) {
  Deno.test(`save() without processes does not replace a list, not even a damaged one: ${generation}`, async () => {
    await using test = await TestManager.open();
    for (const name of ["a", "b"]) {
      await test.script(name, "exec sleep 1000");
      await test.manager.save();
    }
    for (const name of ["a", "b"]) await test.manager.remove(name);
    flip(`${test.home}/state/${generation}`, 99);
    for (let round = 0; round < 2; round++) {
      await assertRejects(() => test.manager.save(), ProcsupError, "Cannot save an empty list");
    }
    assertEquals(await test.manager.resurrect().then(({ count }) => count > 0), true);
  });
}

Deno.test("save() sets a damaged list aside with a warning, and keeps the previous one", async () => {
  await using test = await TestManager.open();
  for (const name of ["a", "b"]) {
    await test.script(name, "exec sleep 1000");
    await test.manager.save();
  }
  const saved = `${test.home}/state/saved.json`;
  flip(saved, 99);
  await test.manager.save();
  assertEquals(generations(test.home), [["a", "b"], ["a"], undefined]);
  assert(Deno.statSync(`${saved}.unreadable`).isFile);
  assert(test.warnings.some((message) => message.includes("saved.json.unreadable")));
});

Deno.test("resurrect() starts by priority, lowest first", async () => {
  await using test = await TestManager.open();
  const names = ["third", "second", "first"];
  for (const [index, name] of names.entries()) {
    await test.script(name, "exec sleep 1000", { priority: 3 - index });
  }
  await test.manager.save();
  for (const name of names) await test.manager.remove(name);
  const starts = () =>
    test.changes.filter(({ type }) => type === "starting").map(({ name }) => name);
  assertEquals(starts(), names);
  assertEquals((await test.manager.resurrect()).count, 3);
  await waitFor(() => starts().length === 6, { what: "the events of the starts" });
  assertEquals(starts().slice(3), ["first", "second", "third"]);
});

Deno.test("resurrect() restores nothing for a process that was scaled up since", async () => {
  await using test = await TestManager.open();
  await test.script("app", "exec sleep 1000");
  await test.manager.save();
  await test.supervisor.scale("app", 2);
  assertEquals(await test.manager.resurrect(), { count: 0, errors: [] });
  assertEquals(test.supervisor.list().map(({ name }) => name), ["app:0", "app:1"]);
});

Deno.test("resurrect() restores the instance count of all instances", async () => {
  await using test = await TestManager.open();
  await test.script("web", "exec sleep 1000", { instances: 3 });
  await test.manager.save();
  await test.manager.scale("web", 1);
  assertEquals(await test.manager.resurrect(), { count: 2, errors: [] });
  assertEquals(test.manager.list().map(({ config }) => config.instances), [3, 3, 3]);
});

Deno.test("resurrect() restores the others when one name has been taken", async () => {
  await using test = await TestManager.open();
  for (const name of ["a", "b"]) await test.script(name, "exec sleep 1000");
  await test.manager.save();
  for (const name of ["a", "b"]) await test.manager.remove(name);
  await test.script("a", "exec sleep 1000", { instances: 2 });
  const { count, errors } = await test.manager.resurrect();
  assertEquals(count, 1);
  assertEquals(errors, ['The name "a" is taken']);
  assertEquals(test.info("b").state, "running");
});

Deno.test("resurrect() restores no app whose log another app has by now", async () => {
  await using folder = tempHome();
  await using test = await TestManager.open();
  const log = { stdout: `${folder.path}/log` };
  await test.script("a", "exec sleep 1000", { log });
  await test.manager.save();
  await test.manager.remove("a");
  await test.script("b", "exec sleep 1000", { log });
  const { count, errors } = await test.manager.resurrect();
  assertEquals([count, errors], [0, [`Cannot start "a": log "${log.stdout}" belongs to "b"`]]);
});

Deno.test("resurrect() adds no saved instance beside a single process of its name", async () => {
  await using test = await TestManager.open();
  await test.script("a", "exec sleep 1000", { instances: 2 });
  await test.manager.save();
  await test.manager.remove("a");
  await test.script("a", "exec sleep 1000");
  const { count, errors } = await test.manager.resurrect();
  assertEquals([count, new Set(errors)], [0, new Set(['The name "a" is taken'])]);
  assertEquals(test.supervisor.list().map(({ name }) => name), ["a"]);
});

Deno.test("a home with colliding names is still taken over", async () => {
  await using test = await TestManager.open();
  await test.script("before", "exec sleep 1000");
  await test.supervisor.remove("before");
  const { pid } = await test.script("a", "exec sleep 1000");
  const { identity } = test.supervisor.process("a");
  test.release();
  const beside = { ...identity, id: crypto.randomUUID(), name: "a:0", numericId: 0 };
  new Records(pathsIn(test.home)).write({ snapshot: NEW, identity: beside });
  await test.reopen();
  const pids = test.supervisor.list().map((process) => [process.name, process.pid]);
  assertEquals(pids, [["a:0", 0], ["a", pid]]);
});

Deno.test("list() is sorted by numeric id, including restored processes", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  for (const name of ["a", "b"]) await test.script(name, "exec sleep 1000");
  supervisor.save();
  await supervisor.remove("all");
  await test.script("c", "exec sleep 1000");
  await supervisor.resurrect();
  assertEquals(supervisor.list().map(({ name }) => name), ["a", "b", "c"]);
});
