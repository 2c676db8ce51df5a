/** Whose environment apps get, and when a file with variables is a change: with the real program. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { isInstalled } from "../support/installed.ts";
import { outputOf } from "../support/output_of.ts";
import { cli, cliIn, programLine, programWords, TestDaemon } from "../support/procsup.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";
import { tmuxMissing, TmuxTerminal } from "../support/tmux.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** Prints what it was given, names included that a shell cannot use, then stays. `$$$$` is `$$` in a file. */
const SCRIPT = "tr '\\0' '\\n' </proc/$$$$/environ; echo over; exec sleep 1000";
const SHOWS = { entrypoint: "/bin/sh", args: ["-c", SCRIPT] };

/** A home with a configuration file, and a daemon that a command starts. */
class Scene implements AsyncDisposable {
  readonly #temp: TempHome = tempHome();
  readonly home = `${this.#temp.path}/home`;

  write(name: string, content: string | object): string {
    const path = `${this.#temp.path}/${name}`;
    Deno.writeTextFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  async run(env: Record<string, string>, ...words: string[]) {
    const ran = await cliIn(this.home, env, ...words);
    assertEquals(ran.code, 0, ran.stderr);
    return ran;
  }

  /** The variables that the last run of an app got. */
  async variables(name: string): Promise<Record<string, string>> {
    let lines: readonly string[] = [];
    await waitFor(async () => {
      const { stdout } = await cli(this.home, "logs", name, "-n", "1000");
      const runs = stdout.split(/^over\n/m);
      lines = runs.at(-2)?.trim().split("\n") ?? [];
      return runs.length > 1 && runs.at(-1) === "";
    });
    return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s) as [string, string]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await cli(this.home, "shutdown", "--yes");
    await this.#temp[Symbol.asyncDispose]();
  }
}

Deno.test("apps of a file get the environment of the shell that creates them, whoever started the daemon", async () => {
  await using scene = new Scene();
  // This shell starts the daemon, which keeps nothing of it.
  await scene.run({ ACCIDENT: "1" }, "ping", "--help");
  await scene.run({ ACCIDENT: "1" }, "start", "--name", "first", "--", "sleep", "1000");
  const file = scene.write("procsup.json", { processes: { app: SHOWS } });
  const up = await scene.run({ X: "1", "discovery.type": "one" }, "up", file);
  assertStringIncludes(up.stderr, "from this shell: ");
  const first = await scene.variables("app");
  assertEquals([first.X, first["discovery.type"], first.ACCIDENT], ["1", "one", undefined]);

  const other = { X: "2" };
  const plan = await scene.run(other, "config", "plan", file);
  assertEquals(plan.stdout, "= 1 unchanged\n");
  const again = await scene.run(other, "up", file);
  assertStringIncludes(again.stderr, "everything is up to date");
  assertEquals((await scene.variables("app")).X, "1");
  await scene.run(other, "up", file, "--update-env");
  const updated = await scene.variables("app");
  assertEquals([updated.X, updated["discovery.type"]], ["2", undefined]);
});

Deno.test("a changed env_file or file of a secret is a change for up, named without its values", async () => {
  await using scene = new Scene();
  const key = scene.write("key", "s3cret");
  scene.write(".env", "LEVEL=low\n");
  const app = { ...SHOWS, env_file: ".env", secrets: { KEY: { file: key } } };
  const file = scene.write("procsup.json", { processes: { app, other: { ...SHOWS } } });
  await scene.run({}, "up", file);
  assertEquals((await scene.variables("app")).KEY, "s3cret");

  scene.write(".env", "# only a comment\nLEVEL=low\n");
  assertEquals((await scene.run({}, "config", "plan", file)).stdout, "= 2 unchanged\n");
  scene.write(".env", "LEVEL=high\n");
  scene.write("key", "n3w");
  const plan = await scene.run({}, "config", "plan", file);
  const changes = "~ app  secrets.KEY changed, env_file changed   (restart)";
  assertEquals(plan.stdout.split("\n").toSorted(), ["", "= 1 unchanged", changes].toSorted());
  const up = await scene.run({}, "up", file);
  assert(!/s3cret|n3w|high/.test(up.stdout + up.stderr + plan.stdout));
  const { LEVEL, KEY } = await scene.variables("app");
  assertEquals([LEVEL, KEY], ["high", "n3w"]);
  assertStringIncludes((await scene.run({}, "up", file)).stderr, "everything is up to date");
});

Deno.test({
  name: "what Python prints is in the log at once, unless env says otherwise",
  ignore: !isInstalled("python3"),
}, async () => {
  const script = `${daemon.home}/app`;
  const shebang = "#!/usr/bin/env python3\n";
  const shows = `import os, time\nprint(repr(os.environ["PYTHONUNBUFFERED"]))\ntime.sleep(1000)\n`;
  Deno.writeTextFileSync(script, shebang + shows, { mode: 0o755 });
  const log = (name: string) => Deno.readTextFileSync(`${daemon.home}/apps/${name}/stdout.log`);
  await daemon.client.call("start", { name: "app", entrypoint: script, cwd: "/" });
  await daemon.startScript("line", `exec python3 -c '${shows.replaceAll("'", '"')}'`);
  await waitFor(() => log("app") === "'1'\n" && log("line") === "'1'\n");
  const off = { env: { PYTHONUNBUFFERED: "" }, restart_policy: "never" };
  const ends = shows.replace("time.sleep(1000)", "");
  await daemon.startScript("off", `exec python3 -c '${ends.replaceAll("'", '"')}'`, off);
  await waitFor(() => log("off") === "''\n");
});

Deno.test({
  name: "run at a terminal lets apps show colours",
  ignore: tmuxMissing(),
}, async () => {
  for (const [NO_COLOR, shown] of [["", "1,1"], ["1", ","]] as const) {
    await using terminal = await TmuxTerminal.open({ TERM: "xterm-256color", NO_COLOR });
    const app = "sh -c 'echo colours=$FORCE_COLOR,$CLICOLOR_FORCE.'";
    // The tests themselves run with an empty FORCE_COLOR, which counts as set.
    const run = `env -u FORCE_COLOR ${programLine()} run --home home`;
    await terminal.command(`${run} -- ${app}; echo ended=$?`);
    await terminal.sees(`colours=${shown}.`);
    await terminal.sees("ended=0");
  }
});

Deno.test("a removed working directory is a sentence for what needs it, and nothing else fails", async () => {
  await using temp = tempHome();
  const scripts = ["npm_launcher.sh", "stub.sh"].map((name) =>
    Deno.readTextFileSync(new URL(`../../scripts/compile/${name}`, import.meta.url))
  );
  const lines = /^# The runtime does not start in a directory[^]*?^fi\n/m;
  const [launcher, stub] = scripts.map((text) => lines.exec(text)?.[0]);
  assertEquals(launcher, stub);
  Deno.mkdirSync(`${temp.path}/gone`);
  const script = `cd ${temp.path}/gone && rmdir ../gone
${launcher}
"$@" list; "$@" start x.js`;
  const { stdout, stderr } = await outputOf(
    new Deno.Command("sh", {
      args: ["-c", script, "sh", ...programWords()],
      env: { PROCSUP_HOME: `${temp.path}/home`, NO_COLOR: "1", PROCSUP_NO_AUTOSTART: "1" },
      stdin: "null",
    }),
  );
  assertStringIncludes(stderr, "error: The current directory was removed\n  hint: cd to");
  assert(!/backtrace|at file:/i.test(stdout + stderr), stderr);
});

Deno.test("a job that is stopped tells that its schedule stays on, and a short id finds nothing", async () => {
  await daemon.startScript("job", "exec sleep 1000", { cron: "@daily" });
  const { stderr } = await daemon.cli("stop", "job");
  assertStringIncludes(stderr, "job: its schedule stays on: procsup cron stop job");
  await daemon.client.call("cron_stop", "job");
  assertEquals((await daemon.cli("stop", "job")).stderr, "");
  const { id } = await daemon.status("job");
  assertEquals((await daemon.status(id.slice(0, 4))).name, "job");
  await assertRejects(() => daemon.status(id.slice(0, 3).replace(/^\d+$/, "zzz")));
});
