/** Feeds of several logs, to which logs are added while they are followed. */

import { assertEquals, assertRejects } from "@std/assert";
import {
  type FeedForm,
  type LaterSources,
  logFeed,
  type LogQuery,
  type LogSource,
  type SourceChanges,
} from "../../src/logs/read/log_feed.ts";
import { ReadLimits } from "../../src/daemon/read_limits.ts";
import { parseLogFilter } from "../../src/logs/read/log_filter.ts";
import { compressArchive } from "../../src/logs/keep/compression_queue.ts";
import { listArchives } from "../../src/logs/write/archives.ts";
import { rotateLog } from "../../src/logs/write/rotate.ts";
import { addMarks, releaseMarks } from "../../src/logs/write/time_index.ts";
import type { LogStart } from "../../src/model/log_line.ts";
import { CAN_COLLAPSE } from "./rotation_scene.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const FORM: FeedForm<readonly string[]> = {
  async *stored(slices) {
    for await (const slice of slices) yield FORM.arrived(slice);
  },
  arrived: ({ of: { name }, entries }) =>
    entries.map(({ line, lost }) =>
      lost === undefined ? `${name} ${line}` : `${name} lost ${lost}`
    ),
};

const OPTIONS: LogQuery = { lines: 0, follow: true, streams: ["stdout"] };

/** A folder of logs, one per process, and a feed of them. */
class Scene implements AsyncDisposable {
  readonly #home = tempHome();
  readonly #leave = new AbortController();
  readonly lines: string[] = [];
  changes: SourceChanges | undefined;
  reading: Promise<void> = Promise.resolve();

  source(name: string, gone?: AbortSignal): LogSource {
    const files = { stdout: this.path(name), stderr: `${this.#home.path}/${name}/stderr.log` };
    return { name, files, ...(gone && { gone }) };
  }

  path(name: string): string {
    return `${this.#home.path}/${name}/stdout.log`;
  }

  write(name: string, text: string): void {
    Deno.mkdirSync(`${this.#home.path}/${name}`, { recursive: true });
    Deno.writeTextFileSync(this.path(name), text, { append: true });
  }

  rename(before: string, name: string): void {
    Deno.renameSync(`${this.#home.path}/${before}`, `${this.#home.path}/${name}`);
    this.changes!.renamed(before, this.source(name));
  }

  follow(
    sources: readonly LogSource[],
    later: Omit<LaterSources, "watch"> = {},
    options = OPTIONS,
  ): void {
    const watch = (changes: SourceChanges) => {
      this.changes = changes;
      return () => this.changes = undefined;
    };
    const stream = logFeed(sources, options, FORM, { ...later, watch });
    this.reading = stream.pipeTo(
      new WritableStream({ write: (lines) => void this.lines.push(...lines as string[]) }),
      { signal: this.#leave.signal },
    );
    // If a test fails before the end, its own error is shown.
    this.reading.catch(() => {});
  }

  async until(...expected: string[]): Promise<void> {
    await waitFor(() => assertEquals(this.lines, expected) ?? true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave.abort();
    await this.reading.catch(() => {});
    await this.#home[Symbol.asyncDispose]();
  }
}

Deno.test("logFeed() follows only new lines of a later process, until all processes are gone", async () => {
  await using scene = new Scene();
  const [one, two] = [new AbortController(), new AbortController()];
  scene.write("one", "here\n");
  scene.follow([scene.source("one", one.signal)]);
  await scene.until("one here");
  scene.write("two", "of an earlier process\n");
  scene.changes!.added(scene.source("two", two.signal));
  scene.write("two", "first\n");
  await scene.until("one here", "two first");
  one.abort();
  scene.write("two", "second\n");
  await scene.until("one here", "two first", "two second");
  scene.write("two", "unfinished");
  two.abort();
  await scene.reading;
  assertEquals(scene.lines.at(-1), "two unfinished");
  assertEquals(scene.changes, undefined, "nothing is watched any more");
});

Deno.test("logFeed() shows a progress bar that moves all the time", async () => {
  await using scene = new Scene();
  scene.write("bar", "begun\n");
  scene.follow([scene.source("bar")], {}, { ...OPTIONS, unfinished: true });
  await scene.until("bar begun");
  let percent = 0;
  const timer = setInterval(() => scene.write("bar", `${++percent} %\r`), 20);
  try {
    await waitFor(() => scene.lines.length > 2);
  } finally {
    clearInterval(timer);
  }
  assertEquals(scene.lines[1]!.startsWith("bar 1 %\r"), true);
});

Deno.test("logFeed() begins with all lines, or as many as wanted, however many there are", async () => {
  const written = Array.from({ length: 12_000 }, (_, index) => `line ${index}`);
  for (const [lines, first] of [[0, 0], [11_000, 1000]] as const) {
    for (const follow of [true, false]) {
      await using scene = new Scene();
      scene.write("api", written.join("\n") + "\n");
      scene.follow([scene.source("api")], {}, { ...OPTIONS, lines, follow });
      await waitFor(() => scene.lines.at(-1) === "api line 11999");
      assertEquals([scene.lines.length, scene.lines[0]], [12_000 - first, `api line ${first}`]);
      if (!follow) continue;
      scene.write("api", "new\n");
      await waitFor(() => scene.lines.at(-1) === "api new");
    }
  }
});

Deno.test("logFeed() stays open without processes if configured, and adds later ones", async () => {
  await using scene = new Scene();
  const [until, gone] = [new AbortController(), new AbortController()];
  scene.follow([], { until: until.signal });
  // Before the existing lines are sent.
  scene.changes!.added(scene.source("one", gone.signal));
  scene.write("one", "1\n");
  await scene.until("one 1");
  gone.abort();
  scene.changes!.added(scene.source("two"));
  scene.write("two", "2\n");
  await scene.until("one 1", "two 2");
  scene.changes!.added(scene.source("three", gone.signal));
  until.abort();
  scene.write("two", "3\n");
  await scene.until("one 1", "two 2", "two 3");
});

Deno.test("logFeed() continues a renamed process under its new name, through a rotation", async () => {
  await using scene = new Scene();
  scene.write("api", "1\n");
  scene.follow([scene.source("api")]);
  await scene.until("api 1");
  scene.write("api", "unfinished ");
  scene.rename("api", "api:0");
  scene.write("api:0", "2\n");
  await scene.until("api 1", "api:0 unfinished 2");
  // The archived part is found only at the new path.
  scene.write("api:0", "3\n");
  const options = { maxSizeBytes: 1, collapse: false, now: Date.now() };
  await rotateLog(scene.path("api:0"), options);
  scene.write("api:0", "4\n");
  await scene.until("api 1", "api:0 unfinished 2", "api:0 3", "api:0 4");
});

Deno.test("logFeed() shows the lines of a recreated process once, even before the deleted one was read", async () => {
  await using scene = new Scene();
  const [gone, until] = [new AbortController(), new AbortController()];
  scene.write("api", "1\n");
  scene.follow([scene.source("api", gone.signal)], { until: until.signal });
  await scene.until("api 1");
  scene.write("api", "2\n");
  gone.abort();
  scene.changes!.added(scene.source("api"));
  scene.write("api", "3\n");
  await waitFor(() => scene.lines.length >= 3);
  scene.write("api", "4\n");
  await waitFor(() => scene.lines.includes("api 4"));
  assertEquals(scene.lines.toSorted(), ["api 1", "api 2", "api 3", "api 4"]);
});

Deno.test("logFeed() resumed by who wanted new lines has all of a log that came meanwhile", async () => {
  await using scene = new Scene();
  scene.write("api", "seen\nnew\n");
  scene.write("later", "first\n");
  const from = { "api/stdout": 5 };
  const sources = [scene.source("api"), scene.source("later")];
  scene.follow(sources, {}, { ...OPTIONS, newOnly: true, from });
  await waitFor(() => scene.lines.length === 2);
  assertEquals(scene.lines.toSorted(), ["api new", "later first"]);
});

Deno.test("logFeed() with gaps tells what was pruned or truncated before it was read", {
  ignore: !CAN_COLLAPSE,
}, async () => {
  const first = "a".repeat(999) + "\n";
  for (const gaps of [true, false]) {
    await using scene = new Scene();
    scene.write("api", first.repeat(5) + "last\n");
    // Cut in a line: what is left of it is lost, too.
    await rotateLog(scene.path("api"), { maxSizeBytes: 4096, collapse: true, now: Date.now() });
    for (const { path } of listArchives(scene.path("api"))) await Deno.remove(path);
    scene.follow([scene.source("api")], {}, { ...OPTIONS, from: { "api/stdout": 2000 }, gaps });
    const told = (lost: number | null) => gaps ? [`api lost ${lost}`] : [];
    const lines = [...told(3000), "api last"];
    await scene.until(...lines);
    scene.write("api", "half");
    await Deno.truncate(scene.path("api"));
    scene.write("api", "new\n");
    await scene.until(...lines, ...told(null), "api new");
  }
});

Deno.test("logFeed() shows no end of a line whose beginning was pruned", {
  ignore: !CAN_COLLAPSE,
}, async () => {
  await using scene = new Scene();
  scene.write("api", "a".repeat(9000));
  await rotateLog(scene.path("api"), { maxSizeBytes: 4096, collapse: true, now: Date.now() });
  for (const { path } of listArchives(scene.path("api"))) await Deno.remove(path);
  const options = { ...OPTIONS, from: { "api/stdout": 2000 }, unfinished: true, gaps: true };
  scene.follow([scene.source("api")], {}, options);
  await scene.until("api lost 7000");
  scene.write("api", "a\nlast\n");
  await scene.until("api lost 7000", "api last");
});

Deno.test("logFeed() fails when a later log exceeds the limit, and releases its places", async () => {
  await using scene = new Scene();
  const names = ["one", "two", "three"];
  const limits = new ReadLimits().feed({ account: "" });
  limits.claim(4096 - names.length);
  const follow = (signal?: AbortSignal) =>
    scene.follow(names.map((name) => scene.source(name, signal)), {}, { ...OPTIONS, limits });
  follow();
  scene.changes!.added(scene.source("one-more"));
  await assertRejects(() => scene.reading, ProcsupError, "The owner follows 4096 logs already");
  follow(AbortSignal.abort());
  await scene.reading;
  follow(AbortSignal.abort());
  await scene.reading;
});

Deno.test("logFeed() reads less ahead of each log when it has many", async () => {
  await using scene = new Scene();
  const largest = async (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `${count}-${index}`);
    for (const name of names) scene.write(name, `${"x".repeat(99)}\n`.repeat(700));
    let most = 0;
    const form: FeedForm<number> = {
      async *stored(slices) {
        for await (const { entries } of slices) yield most = Math.max(most, entries.length);
      },
      arrived: () => 0,
    };
    const options = { ...OPTIONS, follow: false };
    await logFeed(names.map((name) => scene.source(name)), options, form).pipeTo(
      new WritableStream(),
    );
    return most;
  };
  assertEquals([await largest(1), await largest(64)], [655, 41]);
});

Deno.test("logFeed() with a level follows a log that is moved while its last entry is looked for", async () => {
  await using scene = new Scene();
  scene.write("one", "ERROR here\n");
  const { open } = Deno;
  let opened = 0;
  Deno.open = async (path, options) => {
    const file = await open(path, options);
    // The second time is for the beginning of the entry.
    if (path === scene.path("one") && ++opened === 2) scene.rename("one", "one:0");
    return file;
  };
  try {
    const filter = parseLogFilter({ level: "error" }, Date.now());
    scene.follow([scene.source("one")], {}, { ...OPTIONS, lines: 1, filter });
    await scene.until("one:0 ERROR here");
    assertEquals(opened > 2, false, "the moved log is read");
    scene.write("one:0", "ERROR again\n");
    await scene.until("one:0 ERROR here", "one:0 ERROR again");
  } finally {
    Deno.open = open;
  }
});

/** Reads a query to its end: its lines, and where they are. */
async function read(
  sources: readonly LogSource[],
  query: Partial<LogQuery>,
): Promise<{ lines: string[]; start: LogStart }> {
  const lines: string[] = [];
  let start: LogStart = { positions: {}, before: {} };
  const options = { ...OPTIONS, follow: false, positions: true, ...query };
  for await (const item of logFeed(sources, options, FORM)) {
    if ("positions" in item) start = item;
    else lines.push(...item);
  }
  return { lines, start };
}

Deno.test("logFeed() pages back through all lines of all logs, once each, while they are rotated", async () => {
  await using scene = new Scene();
  const [names, count] = [["one", "two", "three"], 3000];
  const ends = new Map(names.map((name) => [name, 0]));
  const all: string[] = [];
  for (let index = 0; index < count; index++) {
    // One log in four has long been silent.
    const name = index < count / 4 ? names[2]! : names[index % 2]!;
    const line = `ERROR ${index}${index % 5 === 0 ? "\n    at here" : ""}`;
    scene.write(name, `${line}\n`);
    const end = ends.get(name)! + line.length + 1;
    ends.set(name, end);
    addMarks(scene.path(name), [{ at: index * 10, end, exact: true }]);
    all.push(...line.split("\n").map((text) => `${name} ${text}`));
  }
  const sources = names.map((name) => scene.source(name));
  for (const filter of [undefined, parseLogFilter({ level: "error" }, 0)]) {
    let { lines, start } = await read(sources, { limit: 101, filter });
    const latest = start.positions;
    let rotated = false;
    while (Object.keys(start.before).length > 0) {
      if (!rotated) {
        const how = { maxSizeBytes: 4096, collapse: CAN_COLLAPSE, now: Date.now() };
        for (const name of names) {
          if (await rotateLog(scene.path(name), how) === undefined) continue;
          const archive = listArchives(scene.path(name)).at(-1)!;
          await compressArchive(archive, () => Promise.resolve());
        }
      }
      rotated = true;
      const page = await read(sources, { limit: 101, filter, before: start.before });
      assertEquals(page.lines.length <= 101, true);
      lines = [...page.lines, ...lines];
      start = page.start;
    }
    assertEquals(lines, all);
    assertEquals((await read(sources, { from: latest, filter })).lines, []);
  }
  const zero = Object.fromEntries(names.map((name) => [`${name}/stdout`, 0]));
  const first = await read(sources, { from: zero, limit: 1000 });
  const second = await read(sources, { from: first.start.positions, limit: 10_000 });
  assertEquals([...first.lines, ...second.lines], all);
  names.forEach((name) => releaseMarks(scene.path(name)));
});
