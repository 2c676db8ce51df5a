/** Rotation loses and duplicates no line, even with concurrent writers, readers and crashes. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { copyPath } from "../../src/logs/write/archives.ts";
import { lastTextLines } from "../../src/logs/read/last_lines.ts";
import { logStream } from "../../src/logs/read/log_stream.ts";
import { readPosition, writePosition } from "../../src/logs/write/log_position.ts";
import { LogCursor } from "../../src/logs/read/log_cursor.ts";
import { compressArchive } from "../../src/logs/keep/compression_queue.ts";
import { dirname } from "@std/path";
import { sleep, systemClock } from "../../src/platform/clock.ts";
import {
  changing,
  disownLog,
  flushLog,
  recoverLog,
  rotateLog,
} from "../../src/logs/write/rotate.ts";
import { moveRest } from "../../src/logs/write/copy_head.ts";
import {
  addMarks,
  readTimeIndex,
  releaseMarks,
  trimMarks,
} from "../../src/logs/write/time_index.ts";
import { waitFor } from "../support/wait_for.ts";
import { CAN_COLLAPSE, Follower, LogScene, numbers } from "./rotation_scene.ts";

const WRITERS = 10;
const LINES = 1_000_000;
const COLLAPSE_ONLY = { ignore: !CAN_COLLAPSE };

Deno.test(
  "rotateLog() loses and duplicates no line of 10 writers, nor do their followers",
  COLLAPSE_ONLY,
  async () => {
    await using scene = new LogScene();
    const expected = numbers(LINES);
    const logs = Array.from({ length: WRITERS }, (_, i) => scene.path(`app${i}`));
    for (const log of logs) await Deno.writeTextFile(log, "");
    await using stack = new AsyncDisposableStack();
    const followers = logs.map((log) => stack.use(new Follower(log)));
    let writing = true;
    const writers = Promise.all(logs.map((log) => scene.writer(log, LINES)));
    writers.finally(() => writing = false);
    // A follower begins with the file, not with older archives.
    await waitFor(() => followers.every(({ length }) => length > 0), { what: "the followers" });
    for (let round = 0; writing || round < 20; round++) {
      for (const log of logs) await scene.rotate(log, 64 * 1024);
    }
    for (const log of logs) {
      assert(scene.archives(log).length >= 5, `${scene.archives(log).length}`);
    }
    for (const log of logs) assert(await scene.whole(log) === expected, `${log} is not whole`);
    for (const follower of followers) {
      assert(await follower.text(expected.length) === expected, "a follower missed something");
    }
  },
);

Deno.test(
  "rotateLog() cuts whole blocks and leaves the rest in place",
  COLLAPSE_ONLY,
  async () => {
    await using scene = new LogScene();
    const text = numbers(3000);
    await scene.append(text);
    const archive = await scene.rotate();
    assertEquals(Deno.statSync(archive!.path).size, 4096);
    assertEquals(Deno.statSync(scene.log).size, text.length - 4096);
    assertEquals(readPosition(scene.log).base, 4096);
    assertEquals(await scene.whole(), text);
    await assertRejects(() => scene.rotate(scene.path("app"), 0), Deno.errors.NotFound);
  },
);

Deno.test("a reader waits for a cut in its own process, however slow the disk", async () => {
  await using scene = new LogScene();
  await scene.append("cut\nkept\n");
  let minutes = 0;
  const steady = () => ++minutes * 60_000;
  const cursor = new LogCursor(scene.log, false, { ...systemClock, steady });
  await cursor.open();
  cursor.position = 4;
  const disk = Promise.withResolvers<void>();
  const cut = changing.take(async () => {
    const cutting = await writePosition(scene.log, readPosition(scene.log), { phase: "cutting" });
    await Deno.writeTextFile(scene.log, "kept\n");
    await disk.promise;
    await writePosition(scene.log, cutting, { phase: "idle", base: 4 });
  }, scene.log);
  await waitFor(() => Deno.statSync(scene.log).size === 5);
  const read = cursor.read();
  await sleep(20);
  disk.resolve();
  assertEquals(new TextDecoder().decode(await read), "kept\n");
  await cut;
  cursor.close();
});

Deno.test("rotateLog() copies and truncates where the file system cannot cut", async () => {
  await using scene = new LogScene();
  await scene.append(numbers(3000));
  await using follower = new Follower(scene.log);
  await follower.text(numbers(3000).length);
  await scene.rotate(scene.log, 4096, false);
  await scene.append("after\n");
  assertEquals(Deno.readTextFileSync(scene.log), "after\n");
  assertEquals(await scene.whole(), numbers(3000) + "after\n");
  const text = numbers(3000) + "after\n";
  assertEquals(await follower.text(text.length), text);
});

Deno.test("rotateLog() and the compression let those read an archive who may read the log", {
  ignore: Deno.uid() !== 0,
}, async () => {
  for (const [mode, group] of [[0o600, 0], [0o640, 4], [0o644, 0]] as const) {
    await using scene = new LogScene();
    const log = scene.path("api");
    await Deno.writeTextFile(log, numbers(100), { mode: 0o600 });
    Deno.chmodSync(log, mode);
    Deno.chownSync(log, null, group);
    const archive = await rotateLog(log, { maxSizeBytes: 1, collapse: false, now: Date.now() });
    const readers = (path: string) => {
      const info = Deno.lstatSync(path);
      return [info.mode! & 0o777, info.gid];
    };
    assertEquals(readers(archive!.path), [mode, group]);
    await compressArchive(archive!, () => Promise.resolve());
    assertEquals(readers(`${archive!.path}.gz`), [mode, group]);
  }
});

Deno.test("rotateLog() leaves no copy of a log that it could not cut", async () => {
  await using scene = new LogScene();
  await scene.append(numbers(5000));
  // Its position cannot be written, as on a full disk.
  Deno.symlinkSync("/dev/full", `${scene.log}.pos`);
  await assertRejects(() => scene.rotate());
  assertEquals(await Deno.readTextFile(scene.log) === numbers(5000), true);
  const names = [...Deno.readDirSync(dirname(scene.log))].map(({ name }) => name);
  assertEquals(names.sort(), ["stdout.log", "stdout.log.pos"]);
});

Deno.test("rotateLog() keeps NULs and invalid UTF-8 as they are", async () => {
  await using scene = new LogScene();
  const bytes = new Uint8Array(100_001).map((_, index) => index * 31 % 256);
  await Deno.writeFile(scene.log, bytes);
  await scene.rotate(scene.log, 50_000);
  const chunks = [await Deno.readFile(scene.archives()[0]!.path), await Deno.readFile(scene.log)];
  assertEquals(await new Blob(chunks).bytes(), bytes);
});

Deno.test("rotateLog() rejects anything but a file and leaves a link's target alone", async () => {
  await using scene = new LogScene();
  const target = scene.path("target");
  await Deno.writeTextFile(target, numbers(3000));
  await Deno.symlink(target, scene.log);
  assertEquals(await scene.rotate(), undefined);
  await assertRejects(() => flushLog(scene.log), ProcsupError, "Cannot flush");
  assertEquals(await Deno.readTextFile(target), numbers(3000));
});

Deno.test("nothing is written beside a log whose folder belongs to another user by now", {
  ignore: Deno.uid() !== 0,
}, async () => {
  await using scene = new LogScene();
  const target = scene.path("target");
  await scene.append(numbers(3000));
  const archive = (await scene.rotate())!;
  await Deno.writeTextFile(target, "of root");
  await Deno.chown(dirname(scene.log), 65534, 65534);
  for (const path of [`${scene.log}.pos`, `${scene.log}.idx`, `${archive.path}.gz.tmp`]) {
    await Deno.remove(path).catch(() => {});
    await Deno.symlink(target, path);
  }
  const isRefused = (act: Promise<unknown>) =>
    assertRejects(() => act, ProcsupError, "belongs to user 65534");
  for (const act of [scene.rotate(), flushLog(scene.log), disownLog(scene.log)]) {
    await isRefused(act);
  }
  await isRefused(recoverLog(scene.log));
  await isRefused(compressArchive(archive, () => Promise.resolve()));
  addMarks(scene.log, [{ at: 1000, end: 10 }]);
  releaseMarks(scene.log);
  assertThrows(() => trimMarks(scene.log, 0, 5), ProcsupError);
  assertEquals(await Deno.readTextFile(target), "of root");
});

Deno.test("lastTextLines() reaches into the archives after a rotation", async () => {
  await using scene = new LogScene();
  await scene.append(numbers(3000));
  for (let round = 0; round < 3; round++) await scene.rotate();
  const all = numbers(3000).trimEnd().split("\n");
  for (const count of [1, 50, 200, 1500, 2999]) {
    assertEquals(await lastTextLines(scene.log, count), all.slice(-count));
  }
  await scene.rotate(scene.log, 4096, false);
  assertEquals(Deno.statSync(scene.log).size, 0);
  assertEquals(await lastTextLines(scene.log, 3), ["2998", "2999", "3000"]);
});

Deno.test("flushLog() empties the log and its archives, and followers continue with new lines", async () => {
  await using scene = new LogScene();
  await scene.append(numbers(3000));
  await using follower = new Follower(scene.log);
  await waitFor(() => follower.length === numbers(3000).length);
  await scene.rotate();
  await flushLog(scene.log);
  assertEquals([scene.archives(), Deno.statSync(scene.log).size], [[], 0]);
  await scene.append("new\n");
  assertEquals(await follower.text(numbers(3000).length + 4), numbers(3000) + "new\n");
  assertEquals(await lastTextLines(scene.log, 5), ["new"]);
  // An app that never ran has no folder.
  await flushLog(`${scene.log}.never/stdout.log`);
});

Deno.test("flushLog() dates later lines no earlier than the flush", async () => {
  await using scene = new LogScene();
  await scene.append("old\n");
  const old = Date.now();
  await waitFor(() => Date.now() > old + 20);
  const flushedAt = Date.now();
  await flushLog(scene.log);
  await waitFor(() => Date.now() > flushedAt + 20);
  await scene.append("new 1\nnew 2\n");
  const index = await readTimeIndex(scene.log, readPosition(scene.log).base);
  assert(index.timeAt(4 + 6) >= flushedAt, `${index.timeAt(10) - flushedAt}`);
});

Deno.test("moveRest() leaves nothing in the log", async () => {
  await using scene = new LogScene();
  await scene.append(numbers(70_000));
  const copy = copyPath(scene.archivePath(0));
  await Deno.writeTextFile(copy, numbers(50_000));
  assertEquals(moveRest(scene.log, copy), numbers(70_000).length);
  assertEquals(await Deno.readTextFile(copy) === numbers(70_000), true);
  assertEquals(Deno.statSync(scene.log).size, 0);
});

Deno.test(
  "a follower that lags behind reads lines that were rotated meanwhile",
  COLLAPSE_ONLY,
  async () => {
    await using scene = new LogScene();
    await scene.append(numbers(20_000));
    const reader = logStream(scene.log, { follow: true }).getReader();
    let text = new TextDecoder().decode((await reader.read()).value);
    for (let round = 0; round < 5; round++) await scene.rotate(scene.log, 20_000);
    while (text.length < numbers(20_000).length) {
      const { value, done } = await reader.read();
      assertEquals(done, false);
      text += new TextDecoder().decode(value);
    }
    await reader.cancel();
    assertEquals(text === numbers(20_000), true);
  },
);
