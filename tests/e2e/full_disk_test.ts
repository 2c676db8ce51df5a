/** A disk that is full for a while: nothing that happened meanwhile is lost. */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ifPossible } from "../../src/model/errors.ts";
import { unsealed } from "../../src/platform/files/state_file.ts";
import { TestDaemon } from "../support/procsup.ts";
import { SmallDisk } from "../support/small_disk.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

Deno.test(
  "an exited app stays known, and is not deleted, when the disk is too full for its record",
  {
    ignore: Deno.build.os !== "linux" || Deno.uid() !== 0,
  },
  async () => {
    await using test = await TestManager.open();
    test.release();
    using disk = new SmallDisk(`${test.home}/state`);
    await test.reopen();
    await test.script("app", "sleep 0.2; exit 7", { restart_policy: "never" });
    await waitFor(() => disk.remount("ro"), { what: "a disk on which nothing is written" });
    const exit = () => test.manager.list()[0]!.lastExit?.code;
    const [process] = test.supervisor.directory.list();
    await waitFor(() => exit() === 7 && process!.snapshot.leftovers.length === 0, {
      what: "the end of all that it started",
    });
    const [deleted] = await test.supervisor.remove("app");
    assertEquals(deleted!.error?.code, "home_unusable");
    test.release();
    disk.remount("rw");
    await test.reopen();
    assertEquals(exit(), 7);
  },
);

Deno.test("daemon remembers events that a full disk could not record, and starts on a full disk", {
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0,
}, async () => {
  await using daemon = await TestDaemon.start();
  await daemon.terminate();
  using disk = new SmallDisk(daemon.home);
  await daemon.run();
  const { pid } = await daemon.startScript("stays", "exec sleep 1000");
  await daemon.startScript("stopped", "exec sleep 1000");
  await daemon.startScript("deleted", "exec sleep 1000");
  const script = "trap 'exit 7' TERM; while :; do sleep 0.1; done";
  const ends = await daemon.startScript("ends", script, { restart_policy: "never" });
  const { pid: first } = await daemon.startScript("always", "exec sleep 1000", {
    ...{ restart_policy: "always", backoff_max: "1s" },
  });
  const states = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await daemon.client.call("list")).map((one) => [one.name, one.state]));
  disk.fill();
  // The next requests show that the old token stays valid.
  await assertRejects(() => daemon.client.call("token", { rotate: true }), Error, "No space left");
  await daemon.client.call("stop", { target: "stopped" });
  await daemon.client.call("delete", "deleted");
  const full: Record<string, string> = { stays: "running", stopped: "stopped", ends: "crashed" };
  Deno.kill(ends.pid, "SIGTERM");
  Deno.kill(first, "SIGKILL");
  await waitFor(async () => (await daemon.status("ends")).state === "crashed");
  assertEquals((await daemon.status("ends")).last_exit?.code, 7);
  await waitFor(async () => (await daemon.status("always")).pid !== first);
  const { always: _, ...others } = await states();
  assertEquals(others, full);

  // Events are kept in memory and written when there is room again.
  disk.free();
  await waitFor(() => /"state":"stopped".*\n?$/.test(lastLine(daemon.home, "stopped")), {
    what: "the record of the stop",
  });
  await waitFor(() => lastLine(daemon.home, "ends").includes('"state":"crashed"'), {
    what: "the record of the exit",
  });
  await waitFor(async () => (await daemon.status("always")).state === "running");
  await waitFor(() => lastLine(daemon.home, "always").includes('"state":"running"'));
  await daemon.kill();
  disk.fill();
  await daemon.run();
  assertEquals(await states(), { ...full, always: "running" });
  assertEquals((await daemon.status("ends")).last_exit?.code, 7);
  assertEquals((await daemon.status("stays")).pid, pid);
  assertMatch((await daemon.cli("doctor")).stdout, /^✘ disk +only /m);
  disk.free();
  await waitFor(
    () => Deno.readTextFileSync(`${daemon.home}/state/daemon.json`).includes(`"pid":${daemon.pid}`),
    {
      what: "the record of the daemon",
    },
  );
  assertEquals((await daemon.startScript("new", "exec sleep 1000")).numeric_id, 5);
  await daemon.client.call("delete", "all");
  await daemon.terminate();
});

/** The last line of a record if it is whole: on a full disk half of one may be written. */
function lastLine(home: string, name: string): string {
  const folder = `${home}/state/processes`;
  const text = [...Deno.readDirSync(folder)].filter(({ name }) => /^[^.]+\.json$/.test(name))
    .map((file) => Deno.readTextFileSync(`${folder}/${file.name}`))
    .find((text) => text.includes(`"name":"${name}"`)) ?? "";
  const line = text.slice(text.lastIndexOf("\n") + 1);
  return ifPossible(() => unsealed(line)) === undefined ? "" : line;
}
