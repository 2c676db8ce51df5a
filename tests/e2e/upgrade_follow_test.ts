import { assertEquals, assertStringIncludes } from "@std/assert";
import { programWords } from "../support/procsup.ts";
import { UpgradeScene } from "../support/upgrade_scene.ts";
import { signIn } from "../support/web.ts";
import { waitFor } from "../support/wait_for.ts";

/** A long-running command of this build, and its output so far. */
class Following implements AsyncDisposable {
  stdout = "";
  stderr = "";
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<unknown>;

  constructor(home: string, ...args: string[]) {
    const [program, ...words] = programWords();
    this.#child = new Deno.Command(program!, {
      args: [...words, ...args],
      env: { PROCSUP_HOME: home, NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#reading = Promise.all([
      this.#read(this.#child.stdout, (text) => this.stdout += text),
      this.#read(this.#child.stderr, (text) => this.stderr += text),
    ]);
  }

  get lines(): string[] {
    return this.stdout.split("\n").slice(0, -1);
  }

  get status(): Promise<Deno.CommandStatus> {
    return this.#child.status;
  }

  /** Waits for a condition of its lines. */
  async until(condition: () => boolean): Promise<void> {
    await waitFor(condition, {
      timeoutMs: 60_000,
      what: () => `more lines after ${this.lines.length}; ${this.stderr || "no message"}`,
    });
  }

  async #read(stream: ReadableStream<Uint8Array>, add: (text: string) => void): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) add(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has exited.
    }
    await this.#child.status;
    await this.#reading;
  }
}

/** The numbers that `logs -f` printed for each app, in its own order. */
function numbersOf(lines: readonly string[]): Map<string, number[]> {
  const numbers = new Map<string, number[]>();
  for (const line of lines) {
    const [name, number] = line.split(" | ");
    numbers.set(name!, [...numbers.get(name!) ?? [], Number(number)]);
  }
  return numbers;
}

function assertEveryNumberOnce(following: Following, apps: number): void {
  const numbers = numbersOf(following.lines);
  assertEquals(numbers.size, apps);
  for (const [name, seen] of numbers) {
    seen.forEach((number, at) => assertEquals(number, at + 1, `${name}: ${seen.join(" ")}`));
  }
}

/** Waits until some more lines of each app have arrived. */
async function moreLines(following: Following, apps: number): Promise<void> {
  const before = numbersOf(following.lines);
  const least = (name: string) => (before.get(name)?.length ?? 0) + 5;
  const enough = () => {
    const now = [...numbersOf(following.lines)];
    return now.length === apps && now.every(([name, seen]) => seen.length >= least(name));
  };
  await following.until(enough);
}

Deno.test("logs -f continues through an upgrade: every line once", async () => {
  await using scene = new UpgradeScene();
  const old = await scene.build("old", "src/protocol/version.ts", '"0.1.0"', '"0.0.9"');
  assertEquals((await scene.run(old, "daemon", "--detach")).code, 0);
  await scene.startWriters(3);
  await using following = new Following(scene.home, "logs", "-f", "-n", "10000");
  await moreLines(following, 3);
  for (const program of [programWords(), old]) {
    assertEquals((await scene.run(program, "upgrade", "--force")).code, 0);
    await moreLines(following, 3);
  }
  assertEveryNumberOnce(following, 3);
  assertStringIncludes(following.stderr, "the daemon is being upgraded to version 0.1.0");
});

Deno.test("logs -f continues after an upgrade to a build that hangs, which is given up soon", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  await scene.startWriters(1);
  await using following = new Following(scene.home, "logs", "-f", "-n", "10000");
  await moreLines(following, 1);
  const hanging = await scene.build(
    "hanging",
    "src/cli/commands/daemon.ts",
    "const { runDaemon } =",
    "await new Promise((resolve) => setTimeout(resolve, 1e9));\n    const { runDaemon } =",
  );
  const { code, stderr } = await scene.run(hanging, "upgrade");
  assertEquals(code, 1, stderr);
  assertStringIncludes(stderr, "shows no sign of life for 10s");
  await moreLines(following, 1);
  assertEveryNumberOnce(following, 1);
});

Deno.test("logs -f of a scaled app continues through an upgrade: every line once", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  await scene.startWriters(1);
  const lines = (following: Following) =>
    following.lines.flatMap((line) => {
      const { name, line: text } = JSON.parse(line);
      return name === "w0:1" ? [] : [Number(text)];
    });
  await using following = new Following(scene.home, "logs", "w0", "-f", "-n", "0", "-o", "jsonl");
  const more = async () => {
    const before = lines(following).length;
    await following.until(() => lines(following).length > before + 4);
  };
  await more();
  await scene.client.call("scale", { target: "w0", instances: 2 });
  await more();
  assertEquals((await scene.run(programWords(), "upgrade", "--force")).code, 0);
  await more();
  const [first = 0, ...rest] = lines(following);
  rest.forEach((number, at) => assertEquals(number, first + at + 1));
});

/** Kills the daemon and starts another one. */
async function anotherDaemon(scene: UpgradeScene): Promise<void> {
  Deno.kill(scene.daemonPid(), "SIGKILL");
  await waitFor(() =>
    scene.run(programWords(), "daemon", "--detach").then(({ code }) => code === 0)
  );
}

Deno.test("logs -f continues when the daemon is killed and replaced soon", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  await scene.startWriters(2);
  await using following = new Following(scene.home, "logs", "-f", "-n", "10000");
  await moreLines(following, 2);
  await anotherDaemon(scene);
  await moreLines(following, 2);
  assertEveryNumberOnce(following, 2);
  assertEquals((await scene.run(programWords(), "shutdown", "--yes")).code, 0);
  assertEquals((await following.status).code, 5);
  assertStringIncludes(following.stderr, "The daemon has gone");
});

Deno.test("logs -f shows an app that is added later, after the daemon was killed: every line once", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  await scene.startWriters(1);
  await using following = new Following(scene.home, "logs", "-f", "-n", "10000");
  await moreLines(following, 1);
  await scene.startWriters(2, 1);
  await moreLines(following, 2);
  await anotherDaemon(scene);
  await moreLines(following, 2);
  assertEveryNumberOnce(following, 2);
});

Deno.test("events continue through an upgrade, with what the next daemon found", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  await scene.startWriters(1);
  await using following = new Following(scene.home, "events", "-f", "-n", "0", "-o", "jsonl");
  const types = () => following.lines.map((line) => JSON.parse(line).type);
  await waitFor(async () => {
    await scene.client.call("restart", "w0");
    return types().includes("running");
  });
  assertEquals((await scene.run(programWords(), "upgrade", "--force")).code, 0);
  await waitFor(() => types().at(-1) === "adopted", { what: "the adoption event" });
  await scene.client.call("stop", { target: "w0" });
  await waitFor(() => types().at(-1) === "stopped");
  assertEquals(types().filter((type) => type === "adopted").length, 1);
});

Deno.test("a dashboard is notified of an upgrade, and stays signed in", async () => {
  await using scene = new UpgradeScene();
  assertEquals((await scene.run(programWords(), "daemon", "--detach")).code, 0);
  const { url } = await scene.client.call("web_start", { listen: "127.0.0.1:0" });
  const { url: link } = await scene.client.call("web_link");
  const session = await signIn(url, { link });

  const { token } = await scene.client.call("token");
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers });
  const messages: { type: string; to?: string }[] = [];
  const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
  socket.addEventListener("message", ({ data }) => messages.push(JSON.parse(data)));
  socket.addEventListener(
    "open",
    () => socket.send(JSON.stringify({ type: "subscribe", topics: ["events"] })),
  );
  await waitFor(() => messages.some(({ type }) => type === "subscribed"));

  assertEquals((await scene.run(programWords(), "upgrade", "--force")).code, 0);
  assertEquals((await closed).code, 1001);
  assertEquals(messages.find(({ type }) => type === "upgrading")?.to, "0.1.0");
  await waitFor(async () => {
    session.proof = await (await fetch(`${url}${session.proofPath()}`)).json();
    const again = await session.fetch("/api/v1/processes");
    await again.body?.cancel();
    return again.status === 200;
  }, { what: "the session to be good still" });
});
