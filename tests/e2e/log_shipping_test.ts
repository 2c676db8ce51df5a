/** Logs shipped by `logs --follow --cursor-file`, to a file and to syslog-ng. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { listArchives } from "../../src/logs/write/archives.ts";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { numbers } from "../logs/rotation_scene.ts";
import { examplesIn } from "../docs/examples.ts";
import { isInstalled } from "../support/installed.ts";
import { denoDir, programLine, programWords, TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

interface Item {
  readonly name: string;
  readonly line?: string;
  readonly lost?: number | null;
  readonly end: number;
}

const LOG = { max_size: "64KB", max_files: 1000 };

/** Writes 40,000 numbers in three seconds or more. */
const COUNTING = "i=0; while [ $i -lt 20 ]; do seq $((i*2000+1)) $((i*2000+2000)); " +
  "i=$((i+1)); sleep 0.15; done; exec sleep 1000";

/** `logs --follow --cursor-file`, which appends to a file and can be killed and started again. */
class Shipper implements AsyncDisposable {
  readonly #daemon: TestDaemon;
  readonly #words: readonly string[];
  #process: Deno.ChildProcess | undefined;
  readonly out: string;

  constructor(daemon: TestDaemon, ...words: string[]) {
    this.#daemon = daemon;
    this.#words = words;
    this.out = `${daemon.home}/shipped`;
    this.start();
  }

  get cursor(): string {
    return `${this.out}.cursor`;
  }

  /** The words of its command. */
  words(...more: string[]): string[] {
    return ["logs", ...this.#words, "-f", "--cursor-file", this.cursor, "-o", "jsonl", ...more];
  }

  start(): void {
    const [program, ...words] = programWords();
    const line = `exec "$@" >>'${this.out}'`;
    this.#process = new Deno.Command("/bin/sh", {
      args: ["-c", line, "sh", program!, ...words, ...this.words()],
      env: { PROCSUP_HOME: this.#daemon.home },
      stdin: "null",
    }).spawn();
  }

  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.status;
    this.#process = undefined;
  }

  get items(): Item[] {
    return Deno.readTextFileSync(this.out).split("\n").slice(0, -1).map((line) => JSON.parse(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** The lines without what came again: the positions of a log only grow. */
function once(items: readonly Item[]): string {
  let end = 0;
  return items.filter((item) => item.end > end && (end = item.end) > 0)
    .map(({ line }) => `${line}\n`).join("");
}

Deno.test("logs --cursor-file ships each line once over rotation and killed daemons; a killed shipper repeats only its last batch", async () => {
  await daemon.startScript("app", COUNTING, { log: LOG });
  // As mktemp makes it.
  Deno.writeTextFileSync(`${daemon.home}/shipped.cursor`, "");
  await using shipper = new Shipper(daemon, "app");
  const shipped = (count: number) => waitFor(() => shipper.items.length >= count);
  await shipped(4000);
  for (const count of [8000, 14_000]) {
    await daemon.kill();
    await daemon.run();
    await shipped(count);
  }
  const before = shipper.items;
  assertEquals(before.length, new Set(before.map(({ end }) => end)).size, "none came twice");
  for (const count of [20_000, 26_000, 32_000]) {
    await shipper.kill();
    shipper.start();
    await shipped(count);
  }
  await waitFor(() => shipper.items.at(-1)?.line === "40000");
  assert(once(shipper.items) === numbers(40_000), "every line came");
  assert(listArchives(`${daemon.home}/apps/app/stdout.log`).length > 1, "it was rotated");
  await shipper.kill();
  const { positions } = JSON.parse(Deno.readTextFileSync(shipper.cursor));
  assertEquals(positions["app/stdout"], numbers(40_000).length);

  // What is written and pruned while nothing ships it is told by its size.
  await daemon.client.call("flush", "app");
  await daemon.client.call("restart", "app");
  await waitFor(async () => (await daemon.cli("logs", "app", "-n", "1")).stdout === "40000\n");
  await daemon.client.call("flush", "app");
  const seen = shipper.items.length;
  shipper.start();
  await daemon.startScript("other", "echo before; exec sleep 1000");
  await daemon.client.call("restart", "app");
  await waitFor(() => shipper.items.length > seen + 1);
  const [gap, first] = shipper.items.slice(seen);
  assertEquals(gap, { ...gap!, lost: numbers(40_000).length, end: 2 * numbers(40_000).length });
  assertEquals([first!.line, first!.end], ["1", 2 * numbers(40_000).length + 2]);

  // One shipper per file, for one query.
  const refused = async (what: string, code: number, ...words: string[]) => {
    const ran = await daemon.cli(...words);
    assertEquals(ran.code, code, ran.stderr);
    assertStringIncludes(ran.stderr, what);
  };
  await refused("Another shipper uses the cursor file", 6, ...shipper.words());
  await shipper.kill();
  await refused("its positions are of stdout and stderr of app", 2, ...shipper.words("--err"));
  await refused("Cannot use --grep with --cursor-file", 2, ...shipper.words("-g", "x"));
  await refused("it ships all lines, or new ones with -n 0", 2, ...shipper.words("-n", "5"));
  await refused("needs --follow and -o jsonl", 2, "logs", "--cursor-file", shipper.cursor);
  const { subject } = JSON.parse(Deno.readTextFileSync(shipper.cursor));
  for (const wrong of [{}, { subject, positions: { "app/stdout": -1 } }]) {
    Deno.writeTextFileSync(shipper.cursor, JSON.stringify(wrong));
    await refused("is not a cursor file", 2, ...shipper.words());
  }
  Deno.removeSync(shipper.cursor);
  new Deno.Command("mkfifo", { args: [shipper.cursor] }).outputSync();
  await refused("it is not a regular file", 2, ...shipper.words());
});

Deno.test("logs --cursor-file -n 0 begins with new lines, and ships an app that came while it was away", async () => {
  await daemon.startScript(
    "one",
    "echo old; trap 'echo new' USR1; while :; do sleep 1000 & wait; done",
  );
  await waitFor(async () => (await daemon.cli("logs", "one")).stdout === "old\n");
  await using shipper = new Shipper(daemon, "all", "-n", "0");
  await waitFor(() => lstatIfAny(shipper.cursor)!.size > 0);
  await shipper.kill();
  await daemon.startScript("two", "echo first; exec sleep 1000");
  await daemon.client.call("signal", { target: "one", signal: "USR1" });
  await waitFor(async () => (await daemon.cli("logs", "one")).stdout === "old\nnew\n");
  shipper.start();
  await waitFor(() => shipper.items.length === 2);
  assertEquals(shipper.items.map(({ name, line }) => `${name} ${line}`).sort(), [
    "one new",
    "two first",
  ]);
});

/** The configuration of the documentation, with these paths. */
function recipe(program: string, file: string): string {
  const { text } = examplesIn("text").find(({ text }) => text.startsWith("@version"))!;
  return text.replace("/etc/syslog-ng/procsup-logs", program).replace("/var/log/apps.log", file);
}

/** What it wrote: the name of the app, the position and the line. */
function receivedIn(path: string): Item[] {
  return Deno.readTextFileSync(path).split("\n").slice(0, -1).map((text) => {
    const [name, end, line] = text.split(" ");
    return { name: name!, line: line!, end: Number(end) };
  });
}

Deno.test(
  "syslog-ng receives each line once by its program() source, over killed daemons and shippers",
  {
    ignore: !isInstalled("syslog-ng"),
  },
  async () => {
    await daemon.startScript("app", COUNTING, { log: LOG });
    const at = (name: string) => `${daemon.home}/${name}`;
    const shipper = `${programLine()} logs app -f --cursor-file ${at("cursor")} -o jsonl`;
    Deno.writeTextFileSync(
      at("shipper"),
      `#!/bin/sh\nPROCSUP_HOME=${daemon.home} DENO_DIR=${denoDir()}\n` +
        `export PROCSUP_HOME DENO_DIR\necho $$ >>${at("pids")}\nexec ${shipper}\n`,
      { mode: 0o700 },
    );
    Deno.writeTextFileSync(at("syslog-ng.conf"), recipe(at("shipper"), at("received")));
    const collector = new Deno.Command("syslog-ng", {
      args: [
        ...["-F", "--no-caps", "-f", at("syslog-ng.conf"), "-R", at("persist")],
        ...["-p", at("ng.pid"), "-c", at("ng.ctl")],
      ],
      stderr: "null",
    }).spawn();
    try {
      const received = (count: number) => waitFor(() => receivedIn(at("received")).length >= count);
      await received(4000);
      await daemon.kill();
      await daemon.run();
      await received(8000);
      const pids = Deno.readTextFileSync(at("pids")).trim().split("\n");
      // It starts the program again.
      Deno.kill(Number(pids.at(-1)), "SIGKILL");
      await received(40_000);
      await waitFor(() => receivedIn(at("received")).at(-1)?.line === "40000");
      assert(once(receivedIn(at("received"))) === numbers(40_000), "every line came");
    } finally {
      collector.kill("SIGTERM");
      await collector.status;
    }
  },
);
