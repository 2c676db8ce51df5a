/**
 * Files of the home are removed under a running daemon: it still answers, and stays the only one.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const ignore = Deno.build.os !== "linux";

/** The living daemons of a home. */
function daemonsOf(home: string): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    try {
      return isAlive(pid) &&
        [...Deno.readDirSync(`/proc/${pid}/fd`)].some(({ name }) =>
          Deno.readLinkSync(`/proc/${pid}/fd/${name}`).startsWith(`${home}/daemon.lock`)
        );
    } catch {
      return false;
    }
  });
}

/** Removes files of the home, or the home itself for `""`. */
function remove(home: string, files: readonly string[]): void {
  for (const file of files) {
    for (;;) {
      try {
        Deno.removeSync(`${home}/${file}`, { recursive: true });
        break;
      } catch (error) {
        // The daemon has restored something meanwhile.
        if (!/not empty/.test(String(error))) throw error;
      }
    }
  }
}

for (const files of [["daemon.lock"], ["daemon.lock", "procsup.sock", "token"], [""]]) {
  const what = files.map((file) => file || "the whole home").join(", ");
  Deno.test(`start finds the running daemon after a removal: ${what}`, { ignore }, async () => {
    await using daemon = await TestDaemon.start();
    const { pid } = await daemon.startScript("app", "exec sleep 1000");
    remove(daemon.home, files);
    const { code, stderr } = await daemon.cli("start", "--name", "two", "--", "sleep", "1000");
    assertEquals(code, 0, stderr);
    assertEquals(daemonsOf(daemon.home), [daemon.pid]);
    const list = await daemon.client.call("list");
    assertEquals(list.map(({ name, state }) => [name, state]), [
      ["app", "running"],
      ["two", "running"],
    ]);
    assertEquals((await daemon.status("app")).pid, pid);
    // Everything is on record again: the next daemon knows both.
    await daemon.kill();
    await daemon.run();
    assertEquals((await daemon.client.call("list")).map(({ name }) => name), ["app", "two"]);
    assertEquals((await daemon.status("app")).pid, pid);
  });
}

Deno.test("a daemon yields to one that took its home over meanwhile, and terminates no app", {
  ignore,
}, async () => {
  await using daemon = await TestDaemon.start();
  const { pid } = await daemon.startScript("app", "exec sleep 1000");
  const first = daemon.pid;
  // Some systems do not show the holder of a removed lock.
  Deno.removeSync(`${daemon.home}/daemon.lock`);
  using other = Deno.openSync(`${daemon.home}/daemon.lock`, { write: true, create: true });
  other.lockSync(true);
  await waitFor(() => !isAlive(first), { what: "the daemon to yield" });
  other.unlockSync();
  await daemon.run();
  assertEquals((await daemon.status("app")).pid, pid);
  assertMatch(Deno.readTextFileSync(`${daemon.home}/daemon.log`), /another supervisor has taken/);
});

for (const file of ["procsup.sock", "token", "state"]) {
  Deno.test(`daemon restores a removed file: ${file}`, { ignore }, async () => {
    await using daemon = await TestDaemon.start();
    const token = Deno.readTextFileSync(`${daemon.home}/token`);
    for (let round = 0; round < 2; round++) {
      remove(daemon.home, [file]);
      await waitFor(() => daemon.client.call("list").then(() => true, () => false), {
        what: `${file} to be restored`,
      });
      await waitFor(() => lstatIfAny(`${daemon.home}/${file}`) !== undefined, {
        what: `${file} to be restored`,
      });
    }
    assertEquals(Deno.readTextFileSync(`${daemon.home}/token`), token);
    assertEquals(daemonsOf(daemon.home), [daemon.pid]);
  });
}

Deno.test(
  "daemon tries again without a trace while it cannot restore its socket, and stops then too",
  { ignore },
  async () => {
    await using daemon = await TestDaemon.start();
    const socket = `${daemon.home}/procsup.sock`;
    const isReported = () =>
      Deno.readTextFileSync(`${daemon.home}/daemon.log`).includes("Cannot res");
    const block = () => {
      Deno.removeSync(socket);
      Deno.mkdirSync(socket);
    };
    block();
    await waitFor(isReported, { what: "the report of the socket" });
    const left = [...Deno.readDirSync(daemon.home)].filter(({ name }) => name.startsWith("sock."));
    assertEquals(left, []);
    Deno.removeSync(socket);
    await waitFor(() => daemon.client.call("list").then(() => true, () => false), {
      what: "the socket to be restored",
    });
    block();
    assertEquals(await daemon.terminate(), 0);
  },
);

Deno.test("daemon continues its log and events after they were removed", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("one", "exec sleep 1000");
  remove(daemon.home, ["daemon.log", "events.jsonl", "token"]);
  await waitFor(() => lstatIfAny(`${daemon.home}/daemon.log`) !== undefined, { what: "the log" });
  await daemon.startScript("two", "exec sleep 1000");
  assertMatch(Deno.readTextFileSync(`${daemon.home}/events.jsonl`), /"two"/);
});

Deno.test("an unreadable token is not mistaken for a missing one", async () => {
  await using daemon = await TestDaemon.start();
  const path = `${daemon.home}/token`;
  const token = Deno.readTextFileSync(path);
  Deno.kill(daemon.pid, "SIGSTOP");
  try {
    Deno.removeSync(path);
    // Reading a directory fails like a disk error.
    Deno.mkdirSync(path);
    Deno.kill(daemon.pid, "SIGCONT");
    const { code, stderr } = await daemon.cli("list");
    assertEquals(code, 2);
    assertStringIncludes(stderr, `Cannot read the token "${path}": Is a directory`);
    const { stdout } = await daemon.cli("doctor");
    assertMatch(stdout, /^✘ token +\S+ cannot be read: Is a directory/m);
  } finally {
    Deno.removeSync(path);
    Deno.writeTextFileSync(path, token);
  }
  await waitFor(() => daemon.client.call("list").then(() => true, () => false));
});

Deno.test("daemon restores a token that was modified in place, at the first command that fails", async () => {
  await using daemon = await TestDaemon.start();
  const path = `${daemon.home}/token`;
  const token = Deno.readTextFileSync(path);
  const { mtime } = Deno.statSync(path);
  Deno.writeTextFileSync(path, token.replace(/^./, "x"));
  // Keeps the times, because the daemon's regular check compares them and must not find the change.
  Deno.utimeSync(path, mtime!, mtime!);
  assertEquals((await daemon.cli("list")).code, 7);
  assertEquals((await daemon.cli("list")).code, 0);
  assertEquals(Deno.readTextFileSync(path), token);
});

Deno.test("doctor reports what a running daemon is missing", { ignore }, async () => {
  await using daemon = await TestDaemon.start();
  Deno.kill(daemon.pid, "SIGSTOP");
  try {
    Deno.removeSync(`${daemon.home}/procsup.sock`);
    const { stdout } = await daemon.cli("doctor");
    assertMatch(stdout, /^✘ daemon +it runs, but its socket is missing/m);
  } finally {
    Deno.kill(daemon.pid, "SIGCONT");
  }
  await waitFor(() => daemon.answers());
});

Deno.test(
  "a second supervisor names the holder of a home whose lock was removed",
  { ignore },
  async () => {
    await using daemon = await TestDaemon.start();
    Deno.kill(daemon.pid, "SIGSTOP");
    try {
      Deno.removeSync(`${daemon.home}/daemon.lock`);
      for (let round = 0; round < 2; round++) {
        const { code, stderr } = await daemon.cli("daemon");
        assertEquals(code, 6);
        assertStringIncludes(
          stderr,
          `the supervisor with pid ${daemon.pid}, whose lock was removed`,
        );
        assert(lstatIfAny(`${daemon.home}/daemon.lock`) === undefined);
      }
    } finally {
      Deno.kill(daemon.pid, "SIGCONT");
    }
    await waitFor(() => lstatIfAny(`${daemon.home}/daemon.lock`) !== undefined, {
      what: "the lock to be restored",
    });
  },
);
