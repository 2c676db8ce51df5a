import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runCommandLine } from "../cli/fake_daemon.ts";
import { programLine, programWords, TestDaemon } from "../support/procsup.ts";
import { tmuxMissing, TmuxTerminal } from "../support/tmux.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** A watch that writes to a pipe, and its output. */
class Watch implements AsyncDisposable {
  text = "";
  readonly #process: Deno.ChildProcess;
  readonly #read: Promise<void>;

  constructor(home: string, ...flags: string[]) {
    const [program, ...words] = programWords();
    this.#process = new Deno.Command(program!, {
      args: [...words, "list", "--watch", ...flags],
      env: { PROCSUP_HOME: home },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#read = this.#pour();
  }

  get lines(): string[] {
    return this.text.split("\n").filter(Boolean);
  }

  /** Its exit code, once it has exited by itself. */
  async code(): Promise<number> {
    return (await this.#process.status).code;
  }

  async #pour(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of this.#process.stdout) {
      this.text += decoder.decode(bytes, { stream: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#process.kill("SIGTERM");
    } catch {
      // It has already exited.
    }
    await this.#process.status;
    await this.#read;
  }
}

Deno.test("list --watch -o jsonl prints changes, and ends with the daemon", async () => {
  await daemon.startScript("api", "sleep 1000");
  await using watch = new Watch(daemon.home, "-o", "jsonl");
  const states = () =>
    watch.lines.map((line) => JSON.parse(line))
      .map(({ name, state, deleted }) => `${name} ${deleted ? "deleted" : state}`);
  await waitFor(() => states().at(-1) === "api running", { what: "the first list" });
  await daemon.client.call("stop", { target: "api" });
  await waitFor(() => states().at(-1) === "api stopped", { what: "the stop" });
  const told = watch.lines.length;
  await daemon.startScript("job", "exit 0");
  await waitFor(() => states().at(-1) === "job stopped", { what: "the end of the job" });
  // An unchanged process is not printed again.
  assert(!states().slice(told).some((state) => state.startsWith("api")), watch.text);
  await daemon.client.call("delete", { target: "job" });
  await waitFor(() => states().at(-1) === "job deleted", { what: "the deletion" });
  await daemon.kill();
  assertEquals(await watch.code(), 5);
});

Deno.test("list --watch prints a table per change to a pipe", async () => {
  await daemon.startScript("api", "sleep 1000");
  await using watch = new Watch(daemon.home);
  await waitFor(() => /api +running/.test(watch.text), { what: "the first table" });
  await daemon.client.call("stop", { target: "api" });
  await waitFor(() => /\n\nID[^\n]*\n[^\n]*api +stopped/.test(watch.text), {
    what: "the next one",
  });
});

Deno.test({
  name: "list --watch redraws in place, and survives the daemon",
  ignore: tmuxMissing(),
}, async () => {
  for (const name of ["a", "b", "c", "d"]) await daemon.startScript(name, "sleep 1000");
  const env = { PROCSUP_HOME: daemon.home, NO_COLOR: "1" };
  await using terminal = await TmuxTerminal.open(env, { columns: 60, rows: 10 });
  await terminal.command(`${programLine()} list -w`);
  assertMatch(await terminal.sees("running"), /^ID +NAME +STATE/);
  await daemon.client.call("stop", { target: "b" });
  const screen = await terminal.sees("stopped");
  assertEquals(screen.match(/NAME/g)?.length, 1);
  await terminal.resize(40, 5);
  await terminal.sees("… 2 more");
  // Just enough rows for the apps and the message, which is wider than that.
  await terminal.resize(60, 7);
  await daemon.kill();
  assertMatch(await terminal.sees("connection lost, retrying: No daemon"), /^ID +NAME/);
  await daemon.run();
  await terminal.sees((screen) => /b +stopped/.test(screen) && !screen.includes("lost"));
  await terminal.keys("C-c");
  await terminal.sees("ready$");
});

Deno.test("list --watch rejects targets and formats that it cannot watch", async () => {
  const yaml = await runCommandLine(["list", "--watch", "-o", "yaml"]);
  assertEquals(yaml.code, 2);
  assertStringIncludes(yaml.stderr, "Cannot watch with -o yaml");
  const interval = await runCommandLine(["list", "--watch", "--interval", "1ms"]);
  assertEquals(interval.code, 2);
  assertStringIncludes(interval.stderr, 'Invalid value "1ms" for --interval');
});
