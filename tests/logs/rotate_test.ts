/** Rotation: no line lost, none doubled, whoever writes, reads or dies meanwhile. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { copyPath, keepCopy } from "../../src/logs/archives.ts";
import { lastTextLines } from "../../src/logs/last_lines.ts";
import { logStream } from "../../src/logs/follow_log.ts";
import { readPosition, UNCUT, writePosition } from "../../src/logs/log_position.ts";
import { compressArchive } from "../../src/logs/compress.ts";
import { flushLog, recoverLog } from "../../src/logs/rotate.ts";
import { moveRest } from "../../src/logs/copy_head.ts";
import { readTimeIndex } from "../../src/logs/time_index.ts";
import { collapseHead, punchHead } from "../../src/platform/collapse.ts";
import { waitFor } from "../support/wait_for.ts";
import { CAN_COLLAPSE, Follower, LogScene, numbers } from "./rotation_scene.ts";

const WRITERS = 10;
const LINES = 1_000_000;
const COLLAPSE_ONLY = { ignore: !CAN_COLLAPSE };

Deno.test(
  "rotateLog() loses and doubles no line of 10 writers, nor do their followers",
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
    for (let round = 0; writing || round < 20; round++) {
      for (const log of logs) await scene.rotate(log, 64 * 1024);
    }
    for (const log of logs) {
      assert(scene.archives(log).length >= 20, `${scene.archives(log).length}`);
    }
    for (const log of logs) assert(await scene.whole(log) === expected, `${log} is not whole`);
    for (const follower of followers) {
      assert(await follower.text(expected.length) === expected, "a follower missed something");
    }
  },
);

Deno.test(
  "rotateLog() cuts whole blocks and leaves the rest where it is",
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
    assertEquals(await scene.rotate(scene.path("app"), 0).catch(() => "none"), "none");
  },
);

Deno.test("rotateLog() copies and truncates where nothing can be cut", async () => {
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

Deno.test("rotateLog() keeps NULs and invalid UTF-8 as they are", async () => {
  await using scene = new LogScene();
  const bytes = new Uint8Array(100_001).map((_, index) => index * 31 % 256);
  await Deno.writeFile(scene.log, bytes);
  await scene.rotate(scene.log, 50_000);
  const chunks = [await Deno.readFile(scene.archives()[0]!.path), await Deno.readFile(scene.log)];
  assertEquals(await new Blob(chunks).bytes(), bytes);
});

Deno.test("rotateLog() refuses what is no file and leaves a link's target alone", async () => {
  await using scene = new LogScene();
  const target = scene.path("target");
  await Deno.writeTextFile(target, numbers(3000));
  await Deno.symlink(target, scene.log);
  assertEquals(await scene.rotate(), undefined);
  await assertRejects(() => flushLog(scene.log), ProcsupError, "Refusing to flush");
  assertEquals(await Deno.readTextFile(target), numbers(3000));
});

/** Every moment at which a supervisor can be killed, and what the next one makes of it. */
const MOMENTS: Readonly<Record<string, (scene: LogScene) => Promise<void>>> = {
  "while it copies": (scene) => Deno.writeTextFile(copyPath(scene.archivePath(0)), "same\nsa"),
  "before the cut is on record": (scene) => copyHead(scene),
  "after that": async (scene) => {
    await copyHead(scene);
    await intend(scene, "archived");
  },
  "after the hole": async (scene) => {
    await copyHead(scene);
    await intend(scene, "archived");
    await punchHead(scene.log, 4096);
  },
  "when the hole is on record": async (scene) => {
    await copyHead(scene);
    await punchHead(scene.log, 4096);
    await intend(scene, "cutting");
  },
  "after the cut": async (scene) => {
    await copyHead(scene);
    await intend(scene, "cutting");
    await collapseHead(scene.log, 8192);
  },
  "when the archive has its name": async (scene) => {
    await MOMENTS["after the cut"]!(scene);
    keepCopy(scene.archivePath(0));
  },
};

async function copyHead(scene: LogScene): Promise<void> {
  const head = (await Deno.readFile(scene.log)).subarray(0, 8192);
  await Deno.writeFile(copyPath(scene.archivePath(0)), head);
}

async function intend(scene: LogScene, phase: "archived" | "cutting"): Promise<void> {
  await writePosition(scene.log, readPosition(scene.log), {
    phase,
    cut: 8192,
    method: "collapse",
    archive: scene.archivePath(0).replace(/.*\//, ""),
    inode: Deno.statSync(scene.log).ino!,
  });
}

for (const [moment, upTo] of Object.entries(MOMENTS)) {
  Deno.test(
    `recoverLog() makes a rotation whole that was killed ${moment}`,
    COLLAPSE_ONLY,
    async () => {
      await using scene = new LogScene();
      // Lines that are all the same: only the file system can tell whether they were cut.
      const text = "same\n".repeat(4096 * 5);
      await scene.append(text);
      await upTo(scene);
      await scene.append(text);
      await recoverLog(scene.log);
      assertEquals(await scene.whole() === text + text, true);
      assertEquals(readPosition(scene.log).phase, "idle");
      await scene.rotate();
      assertEquals(await scene.whole() === text + text, true);
      assertEquals(await new Response(logStream(scene.log, { tail: 9999999 })).text(), text + text);
    },
  );
}

Deno.test("recoverLog() does not take a truncation for done that was not, nor the other way", async () => {
  for (const truncated of [false, true]) {
    await using scene = new LogScene();
    await scene.append(numbers(3000));
    await Deno.copyFile(scene.log, copyPath(scene.archivePath(0)));
    await writePosition(scene.log, readPosition(scene.log), {
      phase: "cutting",
      method: "truncate",
      cut: numbers(3000).length,
      archive: scene.archivePath(0).replace(/.*\//, ""),
      inode: Deno.statSync(scene.log).ino!,
    });
    if (truncated) await Deno.truncate(scene.log);
    await scene.append("after\n");
    await recoverLog(scene.log);
    assertEquals(await scene.whole(), numbers(3000) + "after\n");
  }
});

Deno.test(
  "recoverLog() closes the gap of a collapse that was killed before the file was shortened",
  COLLAPSE_ONLY,
  async () => {
    // So much was written since: nothing, a part of the last block, less than it takes, and more.
    for (const [size, appended] of [[20_000, 0], [20_000, 300], [20_480, 5], [20_000, 30_000]]) {
      await using scene = new LogScene();
      const [head, tail] = [numbers(9000).slice(0, size), numbers(9000).slice(0, appended)];
      await Deno.writeTextFile(copyPath(scene.archivePath(0)), head.slice(0, 8192));
      await scene.append(head.slice(8192));
      await Deno.truncate(scene.log, size);
      await scene.append(tail!);
      await intend(scene, "cutting");
      await recoverLog(scene.log);
      assertEquals(await scene.whole() === head + tail, true, `${size} and ${appended}`);
      assertEquals(readPosition(scene.log).base, 8192);
    }
  },
);

/** What can happen to a position while no supervisor runs. */
const DAMAGES: Readonly<Record<string, (path: string, log: string) => Promise<unknown>>> = {
  removed: (path) => Deno.remove(path),
  empty: (path) => Deno.truncate(path),
  zeroed: (path) => Deno.writeFile(path, new Uint8Array(512)),
  "wrong by one bit": async (path) => {
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(
      path,
      text.replace(/(?<=idle )./, (digit) => digit === "1" ? "0" : "1"),
    );
  },
  "an older one": (_, log) => writePosition(log, UNCUT, {}),
};

for (const [damage, act] of Object.entries(DAMAGES)) {
  Deno.test(`recoverLog() keeps every archive when the position is ${damage}`, async () => {
    await using scene = new LogScene();
    await scene.append(numbers(30_000));
    for (let round = 0; round < 4; round++) await scene.rotate(scene.log, 20_000);
    await compressArchive(scene.archives().at(-1)!, () => Promise.resolve());
    const { base } = readPosition(scene.log);
    await act(scene.log.replace(".log", ".pos"), scene.log);
    await recoverLog(scene.log);
    const healed = readPosition(scene.log);
    assertEquals([healed.base, healed.changes > 0], [base, true]);
    assertEquals(await scene.whole() === numbers(30_000), true);
    await scene.rotate(scene.log, 20_000);
    const all = await new Response(logStream(scene.log, { tail: 30_000 })).text();
    assertEquals(all === numbers(30_000), true);
  });
}

Deno.test("recoverLog() makes an archive of a copy that is all there is of its lines", async () => {
  await using scene = new LogScene();
  await Deno.writeTextFile(copyPath(scene.archivePath(0)), numbers(2000));
  await scene.append("2001\n");
  await recoverLog(scene.log);
  assertEquals(await scene.whole(), numbers(2001));
  assertEquals(await lastTextLines(scene.log, 2), ["2000", "2001"]);
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

Deno.test("flushLog() empties log and archives, and followers go on with what is new", async () => {
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

Deno.test("flushLog() lets what comes afterwards be no older than the flush", async () => {
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

Deno.test("moveRest() leaves nothing behind in the log", async () => {
  await using scene = new LogScene();
  await scene.append(numbers(70_000));
  const copy = copyPath(scene.archivePath(0));
  await Deno.writeTextFile(copy, numbers(50_000));
  assertEquals(moveRest(scene.log, copy), numbers(70_000).length);
  assertEquals(await Deno.readTextFile(copy) === numbers(70_000), true);
  assertEquals(Deno.statSync(scene.log).size, 0);
});

Deno.test(
  "a follower that was left behind reads what was rotated away from under it",
  COLLAPSE_ONLY,
  async () => {
    await using scene = new LogScene();
    await scene.append(numbers(20_000));
    const reader = logStream(scene.log, { follow: true }).getReader();
    let text = new TextDecoder().decode((await reader.read()).value);
    for (let round = 0; round < 5; round++) await scene.rotate(scene.log, 20_000);
    while (text.length < numbers(20_000).length) {
      text += new TextDecoder().decode((await reader.read()).value);
    }
    await reader.cancel();
    assertEquals(text === numbers(20_000), true);
  },
);
