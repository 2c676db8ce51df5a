/** The log keeper: which logs it checks and rotates, and what it reports when it cannot. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { dirname } from "@std/path";
import { tempHome } from "../support/temp_home.ts";
import { readPosition, UNCUT } from "../../src/logs/write/log_position.ts";
import {
  addMarks,
  lastMark,
  readTimeIndex,
  releaseMarks,
} from "../../src/logs/write/time_index.ts";
import { changing } from "../../src/logs/write/rotate.ts";
import { LogKeeper } from "../../src/logs/keep/log_keeper.ts";
import { sleep, systemClock } from "../../src/platform/clock.ts";
import type { ManagedProcess } from "../../src/process/managed_process.ts";
import { waitFor } from "../support/wait_for.ts";
import { CAN_COLLAPSE, LogScene, numbers } from "./rotation_scene.ts";

/** A keeper of one process, and its notes. */
class KeeperScene implements AsyncDisposable {
  readonly scene: LogScene;
  readonly said: string[] = [];
  readonly keeper: LogKeeper;
  readonly process: ManagedProcess;
  /** The offset of its clock, and the longest delay of its timers. */
  aheadMs = 0;
  longestMs = Infinity;
  /** Active timers. */
  timers = 0;
  /** Fired timers. */
  rounds = 0;

  constructor(folder?: string, log: Record<string, unknown> = {}) {
    this.scene = new LogScene(folder);
    Deno.writeTextFileSync(this.scene.log, "");
    Deno.writeTextFileSync(this.scene.path("stderr"), "");
    const config = { maxSizeBytes: 4096, maxFiles: 3, maxAgeMs: 1e9, compress: false, ...log };
    const logs = { stdout: this.scene.log, stderr: this.scene.path("stderr") };
    const process = { config: { log: config }, snapshot: { run: {} }, logs };
    this.process = process as unknown as ManagedProcess;
    this.keeper = new LogKeeper({
      clock: {
        ...systemClock,
        now: () => Date.now() + this.aheadMs,
        after: (ms, act) => this.#after(Math.min(ms, this.longestMs), act),
      },
      list: () => [this.process],
      warn: (message) => this.said.push(message),
      troubled: (_, trouble) => this.said.push(trouble),
    });
  }

  #after(ms: number, act: () => void): () => void {
    this.timers++;
    const cancel = systemClock.after(ms, () => {
      this.timers--;
      this.rounds++;
      act();
    });
    let cancelled = false;
    return () => {
      if (!cancelled) this.timers--;
      cancelled = true;
      cancel();
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.keeper.close();
    await this.scene[Symbol.asyncDispose]();
  }
}

Deno.test("LogKeeper records that a log grew", async () => {
  await using kept = new KeeperScene();
  const { scene, keeper } = kept;
  keeper.start();
  await scene.append("one\n");
  await waitFor(() => lastMark(scene.log)?.end === 4);
  await scene.append("two\n");
  await waitFor(() => lastMark(scene.log)?.end === 8);
  const index = await readTimeIndex(scene.log, 0);
  const written = Deno.statSync(scene.log).mtime!.getTime();
  assert(index.timeAt(4) < index.timeAt(8));
  assert(written <= index.timeAt(8) && index.timeAt(8) <= Date.now());
});

Deno.test("LogKeeper gives one write one time, however long the log was silent", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using kept = new KeeperScene();
  const { scene, keeper } = kept;
  keeper.start();
  await scene.append("one\n");
  await waitFor(() => lastMark(scene.log)?.end === 4);
  await sleep(400);
  await scene.append("two\nthree\n");
  const written = Deno.statSync(scene.log).mtime!.getTime();
  // Queried before and after the keeper's check.
  for (const wait of [() => {}, () => waitFor(() => lastMark(scene.log)?.end === 14)]) {
    await wait();
    const index = await readTimeIndex(scene.log, 0);
    assertEquals([index.timeAt(8), index.timeAt(14)], [written, written]);
  }
});

Deno.test("LogKeeper spreads lines over the time in which no keeper ran", async () => {
  await using kept = new KeeperScene();
  const { scene, keeper, process } = kept;
  keeper.start();
  await scene.append("one\n");
  await waitFor(() => lastMark(scene.log)?.end === 4);
  const at = lastMark(scene.log)!.at;
  await keeper.close();
  await scene.append("two\nsix\n");
  await Deno.utime(scene.log, new Date(at + 8000), new Date(at + 8000));
  const clock = { ...systemClock, now: () => Date.now() + 9000 };
  const next = new LogKeeper({ clock, list: () => [process], warn: () => {}, troubled: () => {} });
  next.start();
  await waitFor(() => lastMark(scene.log)?.end === 12);
  const index = await readTimeIndex(scene.log, 0);
  assertEquals([index.timeAt(4), index.timeAt(8), index.timeAt(12)], [at, at + 4000, at + 8000]);
  await next.close();
});

Deno.test("LogKeeper releases a process at rest and sets no timer", async () => {
  await using kept = new KeeperScene();
  kept.keeper.start();
  await kept.scene.append("last words\n");
  Object.assign(kept.process, { snapshot: { run: null } });
  await waitFor(() => lastMark(kept.scene.log)?.end === 11);
  await waitFor(() => kept.timers === 0, { what: "no more timers" });
});

Deno.test("LogKeeper writes nothing more beside the logs of a deleted process", async () => {
  await using kept = new KeeperScene();
  const { scene, keeper, process } = kept;
  keeper.start();
  // The times of the first lines are saved at once, later ones after a while.
  for (const end of [4, 8]) {
    await scene.append("one\n");
    await waitFor(() => lastMark(scene.log)?.end === end);
  }
  Object.assign(process, { folder: dirname(scene.log) });
  keeper.forget(process, []);
  const names = () => [...Deno.readDirSync(process.folder)].map(({ name }) => name);
  for (const name of names()) Deno.removeSync(`${process.folder}/${name}`);
  await keeper.close();
  assertEquals(names(), []);
});

Deno.test("LogKeeper truncates where the file system cannot cut, and reports it once", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using kept = new KeeperScene("/dev/shm");
  const { scene, keeper, said } = kept;
  keeper.start();
  for (let round = 1; round <= 2; round++) {
    await scene.append(numbers(3000));
    await waitFor(() =>
      readPosition(scene.log).phase === "idle" && scene.archives().length === round
    );
  }
  assertEquals(await scene.whole(), numbers(3000).repeat(2));
  assertEquals(said.length, 1);
  assert(said[0]!.includes("copied and truncated"));
});

for (const isUp of [true, false]) {
  Deno.test(
    `LogKeeper rotates daily logs once a day for an app that is ${isUp ? "up" : "at rest"}`,
    {
      ignore: !CAN_COLLAPSE,
    },
    async () => {
      await using kept = new KeeperScene(undefined, { maxSizeBytes: 1e6, rotate: "daily" });
      const { scene, keeper } = kept;
      kept.longestMs = 5;
      await scene.append(numbers(3000));
      if (!isUp) Object.assign(kept.process, { snapshot: { run: null, leftovers: [] } });
      keeper.start();
      await waitFor(() => lastMark(scene.log) !== undefined);
      const tomorrow = new Date().setHours(24, 0, 0, 0);
      for (let day = 1; day <= 3; day++) {
        assertEquals(scene.archives().length, day - 1);
        kept.aheadMs = new Date(tomorrow).setDate(new Date(tomorrow).getDate() + day - 1) + 1000 -
          Date.now();
        keeper.wake(kept.process);
        await waitFor(() => scene.archives().length === day, { what: `archive ${day}` });
        // Less than a block remains while the app may write.
        assertEquals(Deno.statSync(scene.log).size < (isUp ? 4097 : 1), true);
        await scene.append(numbers(3000));
      }
      assertEquals(await scene.whole(), numbers(3000).repeat(4));
    },
  );
}

for (
  const [what, day, hours] of [["spring", "2037-03-29", 23], ["autumn", "2037-10-25", 25]] as const
) {
  Deno.test(`LogKeeper rotates a daily log at local midnight after the change in ${what}`, {
    ignore: !CAN_COLLAPSE,
  }, async () => {
    const zone = Deno.env.get("TZ");
    Deno.env.set("TZ", "Europe/Berlin");
    try {
      await using kept = new KeeperScene(undefined, { maxSizeBytes: 1e6, rotate: "daily" });
      const { scene, keeper } = kept;
      const begin = new Date(`${day}T00:00:00`).getTime();
      const end = begin + hours * 3_600_000;
      assertEquals(new Date(end).getHours(), 0, "this machine knows the zone");
      kept.longestMs = 5;
      kept.aheadMs = begin + 60_000 - Date.now();
      await scene.append(numbers(3000));
      keeper.start();
      // Today's lines belong to an earlier day by this clock.
      await waitFor(() => scene.archives().length === 1, { what: "an archive" });
      await scene.append(numbers(3000));
      kept.aheadMs = end - 60_000 - Date.now();
      const rounds = kept.rounds;
      keeper.wake(kept.process);
      await waitFor(() => kept.rounds > rounds + 3);
      assertEquals(scene.archives().length, 1);
      kept.aheadMs = end + 1000 - Date.now();
      keeper.wake(kept.process);
      await waitFor(() => scene.archives().length === 2, { what: "a second archive" });
    } finally {
      if (zone === undefined) Deno.env.delete("TZ");
      else Deno.env.set("TZ", zone);
    }
  });
}

Deno.test("LogKeeper catches up on a day that ended while no keeper ran", {
  ignore: !CAN_COLLAPSE,
}, async () => {
  await using kept = new KeeperScene(undefined, { maxSizeBytes: 1e6, rotate: "daily" });
  const { scene, keeper } = kept;
  await scene.append(numbers(3000));
  kept.aheadMs = new Date().setHours(24, 0, 0, 0) - Date.now() + 9 * 3_600_000;
  keeper.start();
  await waitFor(() => scene.archives().length === 1, { what: "an archive" });
});

Deno.test("LogKeeper dates an app's first lines no earlier than its start", async () => {
  await using kept = new KeeperScene();
  const { scene, keeper, process } = kept;
  await scene.append("old\n");
  addMarks(scene.log, [{ at: 1000, end: 4 }]);
  const startedAt = Date.now() - 500;
  Object.assign(process, { snapshot: { run: { outputFrom: [4, 0] }, startedAt } });
  await scene.append("new 1\nnew 2\n");
  keeper.start();
  await waitFor(() => lastMark(scene.log)?.end === 16);
  const index = await readTimeIndex(scene.log, 0);
  assert(index.timeAt(10) >= startedAt, `${index.timeAt(10)}`);
  assertEquals(index.timeAt(4), 1000);
});

for (const [how, run] of [["is silent", {}], ["is at rest", null]] as const) {
  Deno.test(`LogKeeper removes the old archives of an app that ${how}`, async () => {
    await using kept = new KeeperScene(undefined, { maxAgeMs: 1000, maxSizeBytes: 1e6 });
    const { scene, keeper, process } = kept;
    Object.assign(process, { snapshot: { run } });
    await scene.append(numbers(3000));
    await scene.rotate();
    keeper.start();
    assertEquals(scene.archives().length, 1);
    await waitFor(() => scene.archives().length === 0, { what: "the archive to be removed" });
    if (run === null) await waitFor(() => kept.timers === 0, { what: "no more timers" });
  });
}

Deno.test("LogKeeper removes no archive from a folder that belongs to another user by now", {
  ignore: Deno.uid() !== 0,
}, async () => {
  await using kept = new KeeperScene(undefined, { maxAgeMs: 1e6, maxSizeBytes: 1e6 });
  const { scene, keeper, said } = kept;
  await scene.append(numbers(3000));
  await scene.rotate();
  keeper.start();
  await waitFor(() => kept.rounds > 0);
  await Deno.chown(dirname(scene.log), 65534, 65534);
  kept.aheadMs = 2e6;
  keeper.wake(kept.process);
  await waitFor(() => said.length > 0, { what: "the refusal" });
  assert(said[0]!.includes("belongs to user 65534"), said[0]);
  assertEquals(scene.archives().length, 1);
});

for (const how of ["renamed", "replaced"]) {
  Deno.test(`LogKeeper reports once that a log was ${how} while its app runs`, async () => {
    await using kept = new KeeperScene();
    const { scene, keeper, process, said } = kept;
    Object.assign(process, { snapshot: { run: { runId: "one" } } });
    keeper.start();
    await scene.append("one\n");
    await waitFor(() => lastMark(scene.log)?.end === 4);
    await Deno.rename(scene.log, `${scene.log}.1`);
    if (how === "replaced") await scene.append("two\n");
    await waitFor(() => said.length === 1);
    assertEquals(said[0], "moved");
    Object.assign(process, { snapshot: { run: { runId: "two" } } });
    keeper.wake(process);
    await scene.append("three\n");
    await waitFor(() => lastMark(scene.log)?.end === Deno.statSync(scene.log).size);
    assertEquals(said.length, 1);
    kept.aheadMs += 25 * 3_600_000;
    await Deno.rename(scene.log, `${scene.log}.2`);
    await waitFor(() => said.length === 2, { what: "the same on another day" });
  });
}

Deno.test("LogKeeper leaves an append-only log alone, and reports it once", {
  ignore: !CAN_COLLAPSE || !await canChattr(),
}, async () => {
  await using kept = new KeeperScene();
  const { scene, keeper, said } = kept;
  await scene.append(numbers(3000));
  await chattr("+a", scene.log);
  await using _ = { [Symbol.asyncDispose]: () => chattr("-a", scene.log).then(() => {}) };
  keeper.start();
  await waitFor(() => said.length > 0);
  assertEquals(said, [
    `Cannot cut "${scene.log}": it is append-only; to change that: chattr -a`,
  ]);
  assertEquals([...Deno.readDirSync(dirname(scene.log))].map(({ name }) => name).sort(), [
    ...["stderr.log", "stdout.log", "stdout.log.idx"],
  ]);
  const flushed = await assertRejects(() => keeper.flush(kept.process), ProcsupError);
  assertEquals(flushed.message, said[0]);
  assertEquals(readPosition(scene.log), UNCUT);
});

async function chattr(change: string, path: string): Promise<boolean> {
  const { success } = await new Deno.Command("chattr", { args: [change, path], stderr: "null" })
    .output().catch(() => ({ success: false }));
  return success;
}

/** Only root may, and not on every file system. */
async function canChattr(): Promise<boolean> {
  await using home = tempHome();
  const path = `${home.path}/file`;
  await Deno.writeTextFile(path, "");
  return await chattr("+a", path) && await chattr("-a", path);
}

Deno.test("LogKeeper leaves a log alone that it cannot archive, and reports it once", async () => {
  await using kept = new KeeperScene();
  const { scene, keeper, said } = kept;
  // A folder in place of the position file has the same effect as a full disk.
  await Deno.mkdir(`${scene.log}.pos`);
  await scene.append(numbers(3000));
  keeper.start();
  await waitFor(() => said.length > 0);
  assertEquals(scene.archives(), []);
  assertEquals(await Deno.readTextFile(scene.log), numbers(3000));
  assert(said[0]!.includes("will try again"), said[0]);
});

Deno.test("LogKeeper checks no log during the second of two flushes", async () => {
  await using kept = new KeeperScene();
  const { scene, keeper, process } = kept;
  keeper.start();
  await scene.append("one\n");
  await waitFor(() => lastMark(scene.log)?.end === 4);
  const { truncate } = Deno;
  const pause = () => new Promise((resolve) => setTimeout(resolve, 500));
  let flushes = 0;
  Deno.truncate = async (path, length) => {
    if (path === scene.log && ++flushes === 2) {
      await scene.append("between\n");
      await pause();
      await truncate(path, length);
      await pause();
    } else await truncate(path, length);
  };
  try {
    await Promise.all([keeper.flush(process), keeper.flush(process)]);
  } finally {
    Deno.truncate = truncate;
  }
  assertEquals([flushes, kept.said], [2, []]);
});

Deno.test("LogKeeper flushes both logs of a process that is renamed meanwhile", async () => {
  await using kept = new KeeperScene();
  const { scene, keeper, process } = kept;
  const renamed = { stdout: scene.path("new"), stderr: scene.path("newer") };
  for (const path of Object.values({ ...process.logs, ...renamed })) {
    Deno.writeTextFileSync(path, "text");
  }
  const flushing = keeper.flush(process);
  Object.assign(process, { logs: renamed });
  await flushing;
  assertEquals([scene.log, renamed.stderr].map((path) => Deno.statSync(path).size), [0, 0]);
});

Deno.test("LogKeeper looks after logs that could not be moved", async () => {
  await using kept = new KeeperScene();
  const { scene, keeper, process } = kept;
  keeper.start();
  await scene.append("one\n");
  await waitFor(() => lastMark(scene.log)?.end === 4);
  const refuse = () => {
    throw new Error("no");
  };
  await assertRejects(() => keeper.move(process, refuse), Error, "no");
  await scene.append("two\n");
  await waitFor(() => lastMark(scene.log)?.end === 8);
});

Deno.test("LogKeeper moves no log while an interrupted rotation of it is completed", async () => {
  await using kept = new KeeperScene();
  const { scene, keeper, process } = kept;
  const recovery = Promise.withResolvers<void>();
  void changing.take(() => recovery.promise, scene.log);
  keeper.start();
  await waitFor(() => kept.rounds > 0);
  let moved = false;
  const moving = keeper.move(process, () => void (moved = true));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assertEquals(moved, false);
  recovery.resolve();
  await moving;
});

Deno.test("LogKeeper keeps the times of a log that could not be recovered at first", async () => {
  await using kept = new KeeperScene();
  const { scene, keeper, process } = kept;
  await scene.append("one\n");
  addMarks(scene.log, [{ at: 1000, end: 4, exact: true }]);
  releaseMarks(scene.log);
  const { openSync } = Deno;
  Deno.openSync = (path, options) => {
    if (path !== `${scene.log}.pos`) return openSync(path, options);
    Deno.openSync = openSync;
    throw new Error("Too many open files");
  };
  keeper.start();
  await waitFor(() => kept.said.length === 1);
  keeper.wake(process);
  await scene.append("two\n");
  await waitFor(() => lastMark(scene.log)?.end === 8);
  assertEquals((await readTimeIndex(scene.log, 0)).timeAt(4), 1000);
});

Deno.test({
  name: "LogKeeper drops what it would archive and remove at once, and says so",
  ignore: !CAN_COLLAPSE,
  fn: async () => {
    await using kept = new KeeperScene();
    const { scene, keeper, said } = kept;
    await scene.append(numbers(200_000));
    keeper.start();
    const size = () => Deno.statSync(scene.log).size;
    await waitFor(() => size() <= 8192 && scene.archives().length === 3, { what: "the rotations" });
    const lines = (await scene.whole()).trimEnd().split("\n").slice(1).map(Number);
    assert(lines.length > 2000 && lines.length < 6000, `${lines.length} lines`);
    assertEquals(lines, lines.map((_, index) => 200_001 - lines.length + index));
    assert(said.some((text) => text.includes("were dropped")), said.join());
  },
});
