import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { isAlive, programWords } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { wholeLog } from "../support/whole_log.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const WRITERS = 50;
/** Each writes its numbers as long as it lives. */
const WRITER = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done";

/** A home with a daemon of another build that went into the background. */
class UpgradeScene implements AsyncDisposable {
  readonly #temp = tempHome();
  readonly #builds = tempHome();
  readonly home = this.#temp.path;
  readonly client = new DaemonClient(this.home, () => {});

  /** The words of a copy of the source in which some words of a file were changed. */
  async build(name: string, file: string, from: string, to: string): Promise<string[]> {
    const folder = `${this.#builds.path}/${name}`;
    Deno.mkdirSync(folder);
    const { success } = await new Deno.Command("cp", {
      args: ["-r", "src", "main.ts", "deno.json", "deno.lock", folder],
      cwd: ROOT,
    }).output();
    assert(success);
    const text = Deno.readTextFileSync(`${folder}/${file}`);
    assertStringIncludes(text, from);
    Deno.writeTextFileSync(`${folder}/${file}`, text.replace(from, to));
    return [Deno.execPath(), "run", "-A", `${folder}/main.ts`];
  }

  async run(program: readonly string[], ...args: string[]) {
    const { code, stdout, stderr } = await new Deno.Command(program[0]!, {
      args: [...program.slice(1), ...args],
      env: { PROCSUP_HOME: this.home, NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  }

  async startWriters(): Promise<Map<string, number>> {
    for (let i = 0; i < WRITERS; i++) {
      await this.client.call("start", {
        name: `w${i}`,
        entrypoint: "/bin/sh",
        args: ["-c", WRITER],
        cwd: "/",
      });
    }
    await waitFor(async () => (await this.pids()).size === WRITERS, { what: "all to run" });
    return await this.pids();
  }

  async pids(): Promise<Map<string, number>> {
    const list = await this.client.call("list");
    return new Map(list.filter(({ pid }) => pid > 0).map(({ name, pid }) => [name, pid]));
  }

  /** Ends every writer, and fails where the numbers of one are not 1, 2, 3… to the last. */
  async assertNothingLost(least: number): Promise<void> {
    await this.client.call("stop", { target: "all", timeout: "5s" });
    for (let i = 0; i < WRITERS; i++) {
      const lines = (await wholeLog(`${this.home}/apps/w${i}/stdout.log`)).trim().split("\n");
      assert(lines.length >= least, `w${i} wrote ${lines.length} lines`);
      lines.forEach((line, at) => assertEquals(line, String(at + 1)));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.call("shutdown").catch(() => {});
    await this.#builds[Symbol.asyncDispose]();
    await waitFor(async () => !await this.client.call("ping").then(() => true, () => false));
    await this.#temp[Symbol.asyncDispose]();
  }
}

Deno.test("upgrade replaces the daemon under 50 writers: same pids, no line lost", async () => {
  await using scene = new UpgradeScene();
  const old = await scene.build("old", "src/protocol/actions.ts", '"0.1.0"', '"0.0.9"');
  assertEquals((await scene.run(old, "daemon", "--detach")).code, 0);
  const before = await scene.startWriters();
  const listed = await scene.run(programWords(), "list");
  assertEquals(listed.code, 0);
  assertMatch(listed.stderr, /The daemon is version 0\.0\.9, this is .*: run procsup upgrade/);

  const upgraded = await scene.run(programWords(), "upgrade");
  assertEquals(upgraded.code, 0, upgraded.stderr);
  assertMatch(upgraded.stdout, /daemon 0\.0\.9 → .*, 50 of 50 apps up/);
  assertEquals((await scene.client.call("ping")).version, "0.1.0");
  assertEquals(await scene.pids(), before);
  assertStringIncludes((await scene.run(programWords(), "upgrade")).stdout, "already");
  await scene.assertNothingLost(5);
});

Deno.test("upgrade to a build that does not come up brings the old daemon back", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  const broken = await scene.build(
    "broken",
    "src/daemon/daemon.ts",
    "const server = serveSocket(",
    'if (paths) throw new Error("Broken on purpose");\n  const server = serveSocket(',
  );
  const before = await scene.startWriters();
  const upgraded = await scene.run(broken, "upgrade");
  assertEquals(upgraded.code, 1);
  assertStringIncludes(upgraded.stderr, "the old daemon is back and no app was touched");
  assertEquals(await scene.pids(), before);
  for (const pid of before.values()) assert(isAlive(pid));
  await scene.assertNothingLost(5);
});

Deno.test("a daemon of another protocol is refused by every command but upgrade", async () => {
  await using scene = new UpgradeScene();
  const old = await scene.build("old", "src/protocol/actions.ts", "PROTOCOL = 1", "PROTOCOL = 0");
  assertEquals((await scene.run(old, "daemon", "--detach")).code, 0);
  for (const words of [["list"], ["stop", "all"], ["logs"], ["save"]]) {
    const refused = await scene.run(programWords(), ...words);
    assertEquals(refused.code, 5);
    assertStringIncludes(refused.stderr, "they speak protocols 0 and 1");
    assertStringIncludes(refused.stderr, "hint: procsup upgrade");
  }
  assertEquals((await scene.run(programWords(), "upgrade")).code, 0);
  assertEquals((await scene.run(programWords(), "list")).code, 0);
});
