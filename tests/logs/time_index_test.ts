/** Estimated times of lines that were not observed when they were written. */

import { assert, assertEquals } from "@std/assert";
import { LogEntries } from "../../src/logs/read/log_entries.ts";
import { parseLogFilter } from "../../src/logs/read/log_filter.ts";
import {
  addMarks,
  lastMark,
  readTimeIndex,
  recentTimes,
  releaseMarks,
  saveMarks,
  TimeIndex,
  trimMarks,
} from "../../src/logs/write/time_index.ts";
import { CAN_COLLAPSE, LogScene, numbers } from "./rotation_scene.ts";

Deno.test("TimeIndex interpolates between marks and is exact at them", () => {
  const index = new TimeIndex([{ at: 1000, end: 0 }, { at: 2000, end: 100 }, {
    at: 9000,
    end: 200,
  }]);
  assertEquals([0, 50, 100, 150, 200, 999].map((end) => index.timeAt(end)), [
    1000,
    1500,
    2000,
    5500,
    9000,
    9000,
  ]);
  assertEquals(index.positionAt(500), 0);
  assertEquals(index.positionAt(9500), 100);
});

Deno.test("TimeIndex gives a burst one time, and interpolates unknown stretches", () => {
  const index = new TimeIndex([
    { at: 1000, end: 10 },
    { at: 9000, end: 50, exact: true },
    { at: 9090, end: 60, exact: true },
    { at: 19_090, end: 160 },
  ]);
  assertEquals([11, 30, 50, 51, 60, 110].map((end) => index.timeAt(end)), [
    9000,
    9000,
    9000,
    9090,
    9090,
    14_090,
  ]);
  // Where lines that are at least as new begin, which is never within a line.
  assertEquals(index.positionAt(9050), 10);
});

Deno.test("marks are saved later if they cannot be now, after what was cut off by a full disk", async () => {
  await using scene = new LogScene();
  const index = `${scene.log}.idx`;
  addMarks(scene.log, [{ at: 1000, end: 10 }]);
  await Deno.mkdir(index);
  saveMarks(scene.log);
  await Deno.remove(index);
  await Deno.writeFile(index, new Uint8Array(5));
  saveMarks(scene.log);
  assertEquals((await Deno.stat(index)).size, 16);
  releaseMarks(scene.log);
  assertEquals(lastMark(scene.log), { at: 1000, end: 10 });
});

Deno.test("recentTimes() knows the times of the last lines before they are saved", async () => {
  await using scene = new LogScene();
  addMarks(scene.log, [{ at: 1000, end: 10 }, { at: 2000, end: 30, exact: true }]);
  assertEquals(lastMark(scene.log)?.at, 2000);
  const times = recentTimes(scene.log);
  assertEquals([5, 10, 11, 30, 31].map(times), [undefined, undefined, 2000, 2000, undefined]);
  releaseMarks(scene.log);
  assertEquals(recentTimes(scene.log)(20), undefined);
  assertEquals(lastMark(scene.log), { at: 2000, end: 30, exact: true });
});

Deno.test("recentTimes() knows only the latest of many lines, so that memory is bounded", async () => {
  await using scene = new LogScene();
  addMarks(scene.log, Array.from({ length: 129 }, (_, i) => ({ at: i, end: i })));
  const times = recentTimes(scene.log);
  assertEquals([10, 128].map(times), [undefined, 128]);
});

Deno.test("TimeIndex never runs backwards, even if the clock did", () => {
  const index = new TimeIndex([{ at: 5000, end: 10 }, { at: 1000, end: 20 }, {
    at: 6000,
    end: 30,
  }]);
  assertEquals([10, 20, 30].map((end) => index.timeAt(end)), [5000, 5000, 6000]);
});

Deno.test("trimMarks() keeps the marks for the remaining bytes", async () => {
  await using scene = new LogScene();
  const marks = [10, 20, 30, 40].map((end) => ({ at: end * 100, end }));
  addMarks(scene.log, marks);
  assertEquals(lastMark(scene.log), marks[3]);
  trimMarks(scene.log, 25, 35);
  assertEquals(lastMark(scene.log), marks[2]);
  const index = await readTimeIndex(scene.log, 0);
  assertEquals([index.timeAt(20), index.timeAt(30)], [2000, 3000]);
  trimMarks(scene.path("none"), 0, 0);
});

Deno.test("readTimeIndex() drops invalid marks of a damaged file", async () => {
  await using scene = new LogScene();
  await scene.append("x".repeat(40));
  const good = [{ at: 1000, end: 10 }, { at: 3000, end: 30 }, { at: 4000, end: 40 }];
  for (const bad of [{ at: NaN, end: 20 }, { at: 2e300, end: 20 }, { at: 2000, end: 1e300 }]) {
    await Deno.remove(`${scene.log}.idx`).catch(() => {});
    addMarks(scene.log, [good[0]!, bad, good[1]!, good[2]!]);
    const index = await readTimeIndex(scene.log, 0);
    assertEquals([20, 30, 35].map((end) => index.timeAt(end)), [2000, 3000, 3500]);
  }
});

Deno.test("readTimeIndex() knows marks before they are saved, and saves nothing", async () => {
  await using scene = new LogScene();
  await scene.append("x".repeat(40));
  addMarks(scene.log, [{ at: 1000, end: 10 }]);
  releaseMarks(scene.log);
  const { size } = Deno.statSync(`${scene.log}.idx`);
  addMarks(scene.log, [{ at: 3000, end: 30 }, { at: 4000, end: 40, exact: true }]);
  const index = await readTimeIndex(scene.log, 0);
  assertEquals([10, 20, 35].map((end) => index.timeAt(end)), [1000, 2000, 4000]);
  assertEquals(Deno.statSync(`${scene.log}.idx`).size, size);
});

Deno.test("readTimeIndex() has the time of each mark, also of a log that has grown since the last", async () => {
  await using scene = new LogScene();
  await scene.append("x".repeat(40));
  addMarks(scene.log, [{ at: 1000, end: 10 }, { at: 2000, end: 20 }]);
  releaseMarks(scene.log);
  const index = await readTimeIndex(scene.log, 0);
  assertEquals([10, 20].map((end) => index.timeAt(end)), [1000, 2000]);
});

Deno.test("readTimeIndex() is bounded in size", async () => {
  await using scene = new LogScene();
  const many = 140_000;
  addMarks(scene.log, Array.from({ length: many }, (_, i) => ({ at: i * 1000, end: i })));
  trimMarks(scene.log, 0, Infinity);
  assert(Deno.statSync(`${scene.log}.idx`).size < 128 * 1024 * 16);
  assertEquals((await readTimeIndex(scene.log, 0)).timeAt(50_001), 50_001_000);
  assertEquals(lastMark(scene.log)!.end, many - 1);
});

async function linesOf(scene: LogScene, filter: Parameters<typeof parseLogFilter>[0]) {
  const entries = new LogEntries(scene.log, { filter: parseLogFilter(filter, 1_000_000)! });
  const lines = (await Array.fromAsync(entries.stored(true))).flat().map(({ line }) => line);
  entries.close();
  return lines;
}

Deno.test("LogEntries finds lines by time and text in archives, compressed or not", async () => {
  await using scene = new LogScene();
  const all = numbers(3000);
  await scene.append(all);
  // One line per second: the n-th ends at second n.
  let end = 0;
  addMarks(
    scene.log,
    all.trimEnd().split("\n").map((line, i) => {
      return { at: (i + 1) * 1000, end: end += line.length + 1 };
    }),
  );
  for (let round = 0; round < 2; round++) await scene.rotate(scene.log, 4096, CAN_COLLAPSE);
  const check = async () => {
    assertEquals(await linesOf(scene, { since: new Date(2_999_000) }), ["2999", "3000"]);
    assertEquals(await linesOf(scene, { until: new Date(2_400) }), ["1", "2"]);
    const range = { since: new Date(500_000), until: new Date(503_000) };
    assertEquals(await linesOf(scene, range), ["500", "501", "502", "503"]);
    assertEquals(await linesOf(scene, { ...range, grep: "0[12]$" }), ["501", "502"]);
    assertEquals(await linesOf(scene, { ...range, grep: /0[12]$/g, invert: true }), ["500", "503"]);
    // A line split by a rotation is one line.
    assertEquals((await linesOf(scene, { grep: "." })).join("\n") + "\n" === all, true);
  };
  await check();
  const { compressArchive } = await import("../../src/logs/keep/compression_queue.ts");
  for (const archive of scene.archives()) await compressArchive(archive, () => Promise.resolve());
  assert(scene.archives().every(({ compressed }) => compressed));
  await check();
});

Deno.test("LogEntries has the times of a log that is rotated while they are read", async () => {
  await using scene = new LogScene();
  await scene.append("one\ntwo\n");
  addMarks(scene.log, [{ at: 1000, end: 4, exact: true }, { at: 2000, end: 8, exact: true }]);
  const { readFile } = Deno;
  Deno.readFile = async (path, options) => {
    Deno.readFile = readFile;
    await scene.rotate(scene.log, 4096, false);
    return await readFile(path, options);
  };
  const entries = new LogEntries(scene.log, {});
  const read = await Array.fromAsync(entries.stored(true));
  entries.close();
  assertEquals(read.flat().map(({ line, at }) => [line, at]), [["one", 1000], ["two", 2000]]);
});
