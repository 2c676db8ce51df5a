/** Recovery of a log after an interrupted rotation, or with a damaged position. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Archive, copyPath, keepCopy } from "../../src/logs/write/archives.ts";
import { compressArchive } from "../../src/logs/keep/compression_queue.ts";
import { logStream } from "../../src/logs/read/log_stream.ts";
import { lastTextLines } from "../../src/logs/read/last_lines.ts";
import { readPosition, UNCUT, writePosition } from "../../src/logs/write/log_position.ts";
import { copyHollow } from "../../src/logs/write/copy_head.ts";
import { disownLog, recoverLog } from "../../src/logs/write/rotate.ts";
import { collapseHead, punchHead } from "../../src/platform/files/collapse.ts";
import { tempHome } from "../support/temp_home.ts";
import { CAN_COLLAPSE, LogScene, numbers } from "./rotation_scene.ts";

const COLLAPSE_ONLY = { ignore: !CAN_COLLAPSE };

/** Each point at which a supervisor can be killed, and how the next one recovers. */
const MOMENTS: Readonly<Record<string, (scene: LogScene) => Promise<void>>> = {
  "during the copy": (scene) => Deno.writeTextFile(copyPath(scene.archivePath(0)), "same\nsa"),
  "before the cut was recorded": (scene) => copyHead(scene),
  "after that": async (scene) => {
    await copyHead(scene);
    await intend(scene, "archived");
  },
  "after the hole": async (scene) => {
    await copyHead(scene);
    await intend(scene, "archived");
    await punchHead(scene.log, 4096);
  },
  "after the hole was recorded": async (scene) => {
    await copyHead(scene);
    await punchHead(scene.log, 4096);
    await intend(scene, "cutting");
  },
  "after the cut": async (scene) => {
    await copyHead(scene);
    await intend(scene, "cutting");
    await collapseHead(scene.log, 8192);
  },
  "after the archive was renamed": async (scene) => {
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
    archive: scene.archivePath(0).slice(scene.log.length),
    inode: Deno.statSync(scene.log).ino!,
  });
}

for (const [moment, upTo] of Object.entries(MOMENTS)) {
  Deno.test(
    `recoverLog() completes a rotation that was killed ${moment}`,
    COLLAPSE_ONLY,
    async () => {
      for (const name of ["stdout", "größe 2"]) {
        await using scene = new LogScene(undefined, name);
        // All lines are equal: only the file system can tell whether they were cut.
        const text = "same\n".repeat(4096 * 5);
        await scene.append(text);
        await upTo(scene);
        await scene.append(text);
        await recoverLog(scene.log);
        assertEquals(await scene.whole() === text + text, true);
        assertEquals(readPosition(scene.log).phase, "idle");
        await scene.rotate();
        assertEquals(await scene.whole() === text + text, true);
        assertEquals(
          await new Response(logStream(scene.log, { tail: 9999999 })).text(),
          text + text,
        );
      }
    },
  );
}

Deno.test("recoverLog() never confuses a completed truncation with an incomplete one", async () => {
  for (const truncated of [false, true]) {
    await using scene = new LogScene();
    await scene.append(numbers(3000));
    await Deno.copyFile(scene.log, copyPath(scene.archivePath(0)));
    await writePosition(scene.log, readPosition(scene.log), {
      phase: "cutting",
      method: "truncate",
      cut: numbers(3000).length,
      archive: scene.archivePath(0).slice(scene.log.length),
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
    // Written since: nothing, a part of the last block, less than needed, and more.
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

Deno.test(
  "recoverLog() restores the head of a log that can no longer be cut off",
  COLLAPSE_ONLY,
  async () => {
    await using scene = new LogScene();
    const text = numbers(9000).slice(0, 8192);
    await scene.append(text);
    await copyHead(scene);
    await punchHead(scene.log, 8192);
    // Nothing was written since, and a file cannot be cut to nothing.
    await intend(scene, "cutting");
    await recoverLog(scene.log);
    assertEquals(await Deno.readTextFile(scene.log) === text, true);
    assertEquals([scene.archives(), readPosition(scene.log).base], [[], 0]);
  },
);

Deno.test(
  "recoverLog() cuts nothing off a log that another program has truncated meanwhile",
  COLLAPSE_ONLY,
  async () => {
    await using scene = new LogScene();
    await scene.append(numbers(5000));
    await MOMENTS["after that"]!(scene);
    await Deno.truncate(scene.log);
    await scene.append("after\n");
    await recoverLog(scene.log);
    assertEquals(await scene.whole(), "after\n");
    assertEquals(readPosition(scene.log).base, 0);
  },
);

Deno.test(
  "recoverLog() cuts nothing off a log that has taken the place of the old one, and keeps its head",
  COLLAPSE_ONLY,
  async () => {
    await using scene = new LogScene();
    await scene.append(numbers(5000));
    await MOMENTS["after that"]!(scene);
    await Deno.writeTextFile(`${scene.log}.new`, numbers(4000));
    await Deno.rename(`${scene.log}.new`, scene.log);
    await recoverLog(scene.log);
    assertEquals(await scene.whole(), numbers(5000).slice(0, 8192) + numbers(4000));
  },
);

/** Possible damage to a position while no supervisor runs. */
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
    await act(`${scene.log}.pos`, scene.log);
    await recoverLog(scene.log);
    const healed = readPosition(scene.log);
    assertEquals([healed.base, healed.changes > 0], [base, true]);
    assertEquals(await scene.whole() === numbers(30_000), true);
    await scene.rotate(scene.log, 20_000);
    const all = await new Response(logStream(scene.log, { tail: 30_000 })).text();
    assertEquals(all === numbers(30_000), true);
  });
}

Deno.test("recoverLog() turns a copy into an archive when its lines exist nowhere else", async () => {
  await using scene = new LogScene();
  await Deno.writeTextFile(copyPath(scene.archivePath(0)), numbers(2000));
  await scene.append("2001\n");
  await recoverLog(scene.log);
  assertEquals(await scene.whole(), numbers(2001));
  assertEquals(await lastTextLines(scene.log, 2), ["2000", "2001"]);
});

Deno.test({
  name: "compressArchive() closes its files when it is aborted or cannot write",
  sanitizeResources: true,
  async fn() {
    await using home = tempHome();
    const path = `${home.path}/archive`;
    await Deno.writeFile(path, new Uint8Array(200_000));
    const archive = { path } as Archive;
    const closed = () => Promise.reject(new Error("Closed"));
    await assertRejects(() => compressArchive(archive, closed), Error, "Closed");
    await Deno.mkdir(`${path}.gz.tmp`);
    await assertRejects(() => compressArchive(archive, () => Promise.resolve()));
  },
});

Deno.test(
  "disownLog() hides only what exists, also in a log whose rotation was interrupted",
  COLLAPSE_ONLY,
  async () => {
    await using scene = new LogScene();
    await scene.append(numbers(5000));
    await MOMENTS["after that"]!(scene);
    await disownLog(scene.log);
    await scene.append("later\n");
    assertEquals(await lastTextLines(scene.log, 0), ["later"]);
  },
);

Deno.test({
  name: "recoverLog() removes the hollow archive of a head that was being dropped",
  ignore: !CAN_COLLAPSE,
  fn: async () => {
    await using scene = new LogScene();
    await scene.append(numbers(20_000));
    await scene.rotate();
    const { base } = readPosition(scene.log);
    const cut = 64 * 1024;
    // As after the cut, before the archives are removed.
    await copyHollow(scene.log, scene.archivePath(base), cut, 4096);
    await collapseHead(scene.log, cut);
    await writePosition(scene.log, readPosition(scene.log), { base: base + cut });
    await recoverLog(scene.log);
    assertEquals([scene.archives(), readPosition(scene.log).base], [[], base + cut]);
    assert((await scene.whole()).endsWith("\n20000\n"));
  },
});
