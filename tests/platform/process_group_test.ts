/** Terminating runs, with real processes. */

import { assert, assertEquals } from "@std/assert";
import { Launcher } from "../../src/platform/launcher.ts";
import { cleanUpOrphans, terminateRun, wrapperAlive } from "../../src/platform/process_group.ts";
import { RunFiles } from "../../src/platform/run_files.ts";
import { isAlive } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

/** A deadline from now. */
function within(ms: number): () => number {
  const at = performance.now() + ms;
  return () => at;
}

/** A shell script as a run. */
class Scene implements AsyncDisposable {
  readonly files: RunFiles;
  readonly launcher: Launcher;
  readonly #temp = tempHome();

  constructor() {
    this.files = new RunFiles(this.#temp.path);
    this.launcher = new Launcher(this.files);
  }

  async launch(script: string) {
    const { path } = this.#temp;
    const child = this.launcher.launch({
      name: "app",
      ...{ runId: crypto.randomUUID(), argv: ["/bin/sh", "-c", script], cwd: path },
      env: { PATH: Deno.env.get("PATH")! },
      ...{ stdout: `${path}/stdout`, stderr: `${path}/stderr` },
    });
    await child.pid;
    return child;
  }

  /** Pids that the script wrote to the file. */
  async pids(count: number): Promise<number[]> {
    const read = () => Deno.readTextFileSync(`${this.#temp.path}/stdout`).split("\n").slice(0, -1);
    await waitFor(() => read().length === count, { what: "the pids" });
    return read().map(Number);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.launcher.close();
    this.files.close();
    await this.#temp[Symbol.asyncDispose]();
  }
}

Deno.test("terminateRun() leaves the exit on file when it has to kill the app", async () => {
  await using scene = new Scene();
  const { run } = await scene.launch("trap '' TERM; echo $$; while :; do sleep 0.05; done");
  await scene.pids(1);
  assertEquals(await terminateRun(run, "SIGTERM", within(50)), { killed: true, left: [] });
  const { code, signal } = scene.launcher.exitOf(run.runId);
  assertEquals([code, signal], [137, "SIGKILL"]);
});

Deno.test("terminateRun() leaves a group alone that has the number of the run's by now", async () => {
  await using scene = new Scene();
  const { run: other } = await scene.launch("echo $$; exec sleep 1000");
  const [app] = await scene.pids(1);
  const run = { ...other, runId: crypto.randomUUID(), wrapperStart: "1" };
  assert(wrapperAlive(other) && !wrapperAlive(run));
  await terminateRun(run, "SIGTERM", within(50));
  assert(isAlive(app!), "a stranger was signalled");
  await terminateRun(other, "SIGKILL", within(50));
});

Deno.test("cleanUpOrphans() waits for members of the group when the group itself is unknown", async () => {
  await using scene = new Scene();
  const { run, exited } = await scene.launch(
    "(trap '' TERM; while :; do sleep 0.05; done) & echo $!; exit 3",
  );
  const [member] = await scene.pids(1);
  assertEquals((await exited).code, 3);
  const unknown = { ...run, wrapperPid: 0, wrapperStart: "" };
  const { group, all } = cleanUpOrphans(unknown, "SIGTERM", within(50));
  await group;
  assert(!isAlive(member!), "what was left of the group outlives the wait for it");
  assert(await all > 0);
});

Deno.test("Launcher.adopt() sees the exit of an app whose wrapper was killed, even if a process remains", async () => {
  await using scene = new Scene();
  const { run } = await scene.launch("sleep 1000 & echo $!; echo $$; while :; do sleep 0.05; done");
  const [member, app] = await scene.pids(2);
  // The next daemon's launcher.
  const launcher = new Launcher(scene.files);
  const { exited } = launcher.adopt(run);
  Deno.kill(run.wrapperPid, "SIGKILL");
  Deno.kill(app!, "SIGKILL");
  assertEquals((await exited).code, null);
  await launcher.close();
  assert(isAlive(member!));
  await cleanUpOrphans(run, "SIGTERM", within(50)).all;
  assert(!isAlive(member!));
});
