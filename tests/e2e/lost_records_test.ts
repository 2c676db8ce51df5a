/** Damaged or missing records: the next daemon loses no app, and starts none twice. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { flip } from "../support/damage.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

/** Every file of every record, with copies. */
function recordFiles(home: string): string[] {
  const folder = `${home}/state/processes`;
  return [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`);
}

/** The living wrappers of a home. */
function wrappers(home: string): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    if (!isAlive(pid)) return false;
    try {
      const words = Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0");
      return words[3] === "procsup" && words[4]!.startsWith(`${home}/run/`);
    } catch {
      return false;
    }
  });
}

/** The copy of a record is written shortly after it. */
async function untilCopied(daemon: TestDaemon, count: number): Promise<void> {
  const copies = () => recordFiles(daemon.home).filter((path) => path.endsWith(".copy"));
  await waitFor(() => copies().length === count, { what: "the copies of the records" });
}

const DAMAGE: Readonly<Record<string, (path: string) => void>> = {
  "damaged in one bit": (path) => flip(path, 25),
  "removed": (path) => Deno.removeSync(path),
  "truncated to nothing": (path) => Deno.truncateSync(path),
  "truncated": (path) => Deno.truncateSync(path, 100),
};

for (const [how, damage] of Object.entries(DAMAGE)) {
  Deno.test(`daemon adopts an app whose record was ${how}, and resurrect does not start it again`, {
    ignore: Deno.build.os !== "linux",
  }, async () => {
    await using daemon = await TestDaemon.start();
    const { id, numeric_id } = await daemon.startScript("app", "exec sleep 1000");
    const { pid } = await daemon.startScript("other", "exec sleep 1000");
    assertEquals((await daemon.cli("save")).code, 0);
    // Of both apps, and of both processes.
    await untilCopied(daemon, 4);
    const before = wrappers(daemon.home);
    const app = (await daemon.status("app")).pid;
    await daemon.kill();
    recordFiles(daemon.home).filter((path) =>
      path.includes(`/${id}`) || path.endsWith("/app.app.json")
    ).filter((path) => path.endsWith(".json")).forEach(damage);
    await daemon.run();
    const list = await daemon.client.call("list");
    assertEquals(
      list.map((one) => [one.name, one.numeric_id, one.pid, one.state, one.restarts]),
      [["app", numeric_id, app, "running", 0], ["other", 1, pid, "running", 0]],
    );
    assertEquals((await daemon.cli("resurrect")).code, 0);
    assertEquals(wrappers(daemon.home), before);
    const { stdout } = await daemon.cli("doctor");
    if (how !== "removed") assertMatch(stdout, new RegExp(`${id}.*was set aside`));
    assertStringIncludes(Deno.readTextFileSync(`${daemon.home}/daemon.log`), id);
    await daemon.client.call("stop", { target: "app" });
    assert(!isAlive(app));
  });
}

for (const isSaved of [true, false]) {
  const source = isSaved ? "the saved list" : "its process";
  Deno.test(`daemon takes the configuration of an app whose record is lost from ${source}`, {
    ignore: Deno.build.os !== "linux",
  }, async () => {
    await using daemon = await TestDaemon.start();
    const { id, pid } = await daemon.startScript("app", "exec sleep 1000", { env: { OWN: "1" } });
    if (isSaved) assertEquals((await daemon.cli("save")).code, 0);
    await waitFor(async () => (await daemon.status("app")).state === "running");
    await daemon.kill();
    for (const path of recordFiles(daemon.home)) {
      if (path.includes("/app.app.json")) Deno.removeSync(path);
    }
    await daemon.run();
    const now = await daemon.status("app");
    assertEquals([now.id, now.pid, now.state], [id, pid, "running"]);
    assertEquals(Object.keys((now.config as { env: object }).env), ["OWN"]);
    await daemon.client.call("restart", { target: "app", wait: true });
  });
}

Deno.test("daemon recovers an app without a record from its wrapper", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using daemon = await TestDaemon.start();
  const { pid } = await daemon.startScript("app", "echo $OWN >&2; exec sleep 1000", {
    env: { OWN: "value" },
    namespace: "shop",
  });
  const twins = await daemon.client.call("start", {
    ...{ name: "twin", entrypoint: "/bin/sleep", args: ["1000"], cwd: "/", instances: 2 },
  });
  assertEquals(twins.name, "twin:0");
  await waitFor(async () => (await daemon.status("twin:1")).pid > 0);
  const log = () => Deno.readTextFileSync(`${daemon.home}/apps/app/stderr.log`);
  await waitFor(() => log() === "value\n", { what: "the app" });
  const before = wrappers(daemon.home);
  await daemon.kill();
  for (const path of recordFiles(daemon.home)) Deno.removeSync(path);
  await daemon.run();
  const list = await daemon.client.call("list");
  assertEquals(
    list.map(({ name, state, namespace }) => [name, state, namespace]).sort(),
    [["app", "running", "shop"], ["twin:0", "running", "default"], [
      "twin:1",
      "running",
      "default",
    ]],
  );
  assertEquals(list.find(({ name }) => name === "app")!.pid, pid);
  assertEquals(wrappers(daemon.home), before);
  // What is known of it suffices to start it again.
  await daemon.client.call("restart", { target: "app", wait: true });
  await waitFor(() => log() === "value\nvalue\n", { what: "its environment" });
  await daemon.client.call("stop", { target: "all" });
  assertEquals(wrappers(daemon.home), []);
});

for (const user of Deno.uid() === 0 ? [{}, { uid: "nobody" }] : [{}]) {
  const whose = JSON.stringify(user);
  Deno.test(`daemon recovers an app that replaced its shell, with odd names in env and ${whose}`, {
    ignore: Deno.build.os !== "linux",
  }, async () => {
    await using daemon = await TestDaemon.start();
    await daemon.startScript("app", "echo $OWN; id -un; exec sleep 1000", {
      // The shell drops the second one.
      env: { OWN: "value", "A-B": "1" },
      ...user,
    });
    const log = () => Deno.readTextFileSync(`${daemon.home}/apps/app/stdout.log`);
    await waitFor(() => log().split("\n").length === 3, { what: "the app" });
    const first = log();
    await daemon.kill();
    for (const path of recordFiles(daemon.home)) Deno.removeSync(path);
    await daemon.run();
    await daemon.client.call("restart", { target: "app", wait: true });
    await waitFor(() => log() === first + first, { what: "the same again" });
  });
}

Deno.test("daemon recovers the settings of an app without a record from the saved list", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using daemon = await TestDaemon.start();
  const { id } = await daemon.startScript("app", "exec sleep 1000", { max_restarts: 77 });
  assertEquals((await daemon.cli("save")).code, 0);
  await daemon.kill();
  for (const path of recordFiles(daemon.home)) Deno.removeSync(path);
  await daemon.run();
  const now = await daemon.status("app");
  assertEquals([now.id, now.state], [id, "running"]);
  assertEquals((now.config as { max_restarts: number }).max_restarts, 77);
});

Deno.test("daemon does not run an exited process again when the boot identity is damaged", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("once", `echo run >>${daemon.home}/runs`);
  await waitFor(async () => (await daemon.status("once")).state === "stopped");
  await daemon.kill();
  const boot = `${daemon.home}/state/boot`;
  for (const path of [boot, `${boot}.copy`]) Deno.writeTextFileSync(path, "");
  await daemon.run();
  assertEquals((await daemon.status("once")).state, "stopped");
  assertEquals(Deno.readTextFileSync(`${daemon.home}/runs`), "run\n");
});

Deno.test("daemon never reassigns a numeric id, even one no longer in use", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("a", "exec sleep 1000");
  await daemon.startScript("b", "exec sleep 1000");
  await daemon.client.call("delete", "b");
  await daemon.kill();
  await daemon.run();
  assertEquals((await daemon.startScript("c", "exec sleep 1000")).numeric_id, 2);
});
