/** Terminating runs, with real processes. */

import { runIdOf } from "../../src/platform/scan/process_environment.ts";
import { assert, assertEquals } from "@std/assert";
import { Launcher } from "../../src/platform/launch/launcher.ts";
import {
  cleanUpOrphans,
  terminateRun,
  wrapperAlive,
} from "../../src/platform/scan/process_group.ts";
import { nameOf, processRow } from "../../src/platform/scan/process_table.ts";
import { RunFiles } from "../../src/platform/launch/run_files.ts";
import { isAlive } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const TERM = { signal: "SIGTERM", mode: "group", main: 0 } as const;

/** A deadline from now. */
function within(ms: number): () => number {
  const at = performance.now() + ms;
  return () => at;
}

/** Writes a line at SIGTERM and goes on; ends at the second. */
const DRAINING = `trap 'echo term >&2; trap "exit 0" TERM' TERM`;
const LOOP = "while :; do sleep 0.05; done";

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

  get stderr(): string {
    return Deno.readTextFileSync(`${this.#temp.path}/stderr`);
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
  assertEquals(await terminateRun(run, TERM, within(50)), { killed: true, left: [] });
  const { code, signal } = scene.launcher.exitOf(run.runId);
  assertEquals([code, signal], [137, "SIGKILL"]);
});

Deno.test("Launcher.exitOf() gives codes above 128 as codes, but 130 and 141 as the signals they may be", async () => {
  await using scene = new Scene();
  const exits = await Promise.all(
    ["exit 129", "exit 130", "exit 137", "exit 143", "kill -HUP $$", "kill -KILL $$"].map(
      async (script) => {
        const { code, signal } = await (await scene.launch(script)).exited;
        return [code, signal];
      },
    ),
  );
  const codes = [[129, null], [130, "SIGINT"], [137, null], [143, null]];
  assertEquals(exits, [...codes, [129, "SIGHUP"], [137, "SIGKILL"]]);
});

Deno.test("terminateRun() of the main process signals it alone, and kills the rest when it has ended", async () => {
  await using scene = new Scene();
  const { run } = await scene.launch(
    `(trap 'echo child >&2' TERM; ${LOOP}) & echo $!; trap 'sleep 0.2; exit 7' TERM; echo $$; ${LOOP}`,
  );
  const [child, main] = await scene.pids(2);
  const way = { ...TERM, mode: "main", main: main! } as const;
  assertEquals(await terminateRun(run, way, within(60_000)), { killed: false, left: [] });
  assertEquals([scene.launcher.exitOf(run.runId).code, scene.stderr], [7, ""]);
  assert(!isAlive(child!));
});

Deno.test("terminateRun() of the main process kills all at the deadline", async () => {
  await using scene = new Scene();
  const { run } = await scene.launch(
    `sleep 1000 & echo $!; ${DRAINING}; echo $$; ${LOOP}`,
  );
  const [child, main] = await scene.pids(2);
  const way = { ...TERM, mode: "main", main: main! } as const;
  assertEquals(await terminateRun(run, way, within(300)), { killed: true, left: [] });
  assertEquals([scene.stderr, isAlive(child!), isAlive(main!)], ["term\n", false, false]);
  assertEquals(scene.launcher.exitOf(run.runId).signal, "SIGKILL");
});

Deno.test("terminateRun() with leave ends the main process alone, by SIGKILL at the deadline", async () => {
  for (const [ms, killed, code] of [[60_000, false, 7], [0, true, 137]] as const) {
    await using scene = new Scene();
    const { run } = await scene.launch(
      `sleep 1000 & echo $!; trap 'exit 7' TERM; echo $$; ${LOOP}`,
    );
    const [child, main] = await scene.pids(2);
    const way = { ...TERM, mode: "leave", main: main! } as const;
    assertEquals(await terminateRun(run, way, within(ms)), { killed, left: [] });
    await waitFor(() => scene.launcher.hasEnded(run.runId));
    assertEquals(scene.launcher.exitOf(run.runId).code, code);
    assertEquals((await cleanUpOrphans(run, way, within(50)).all).count, 0);
    assert(isAlive(child!) && !isAlive(main!));
    await cleanUpOrphans(run, TERM, within(50)).all;
    assert(!isAlive(child!));
  }
});

for (const signal of ["SIGTSTP", "SIGTTIN", "SIGTTOU"] as const) {
  Deno.test(`terminateRun() delivers ${signal}, even to an app that is stopped`, async () => {
    await using scene = new Scene();
    const { run } = await scene.launch(`trap 'exit 5' ${signal.slice(3)}; echo $$; ${LOOP}`);
    const [app] = await scene.pids(1);
    Deno.kill(app!, "SIGSTOP");
    await terminateRun(run, { ...TERM, signal }, within(60_000));
    assertEquals(scene.launcher.exitOf(run.runId).code, 5);
  });
}

Deno.test("terminateRun() leaves a group alone that has the number of the run's by now", async () => {
  await using scene = new Scene();
  const { run: other } = await scene.launch("echo $$; exec sleep 1000");
  const [app] = await scene.pids(1);
  const run = { ...other, runId: crypto.randomUUID(), wrapperStart: "1" };
  assert(wrapperAlive(other) && !wrapperAlive(run));
  await terminateRun(run, TERM, within(50));
  assert(isAlive(app!), "a stranger was signalled");
  await terminateRun(other, TERM, within(50));
});

Deno.test("cleanUpOrphans() waits for members of the group when the group itself is unknown", async () => {
  await using scene = new Scene();
  const { run, exited } = await scene.launch(
    "(trap '' TERM; while :; do sleep 0.05; done) & echo $!; exit 3",
  );
  const [member] = await scene.pids(1);
  assertEquals((await exited).code, 3);
  const unknown = { ...run, wrapperPid: 0, wrapperStart: "" };
  const { group, all } = cleanUpOrphans(unknown, TERM, within(50));
  await group;
  assert(!isAlive(member!), "what was left of the group outlives the wait for it");
  assert((await all).count > 0);
});

Deno.test({
  name: "cleanUpOrphans() ends a background process that has another session and no environment",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    for (const env of ["", "PROCSUP_RUN_ID=another"]) {
      await using scene = new Scene();
      const { run, exited } = await scene.launch(
        `setsid -f env -i ${env} sh -c 'echo $$; exec sleep 1000' & wait`,
      );
      const [daemon] = await scene.pids(1);
      await exited;
      await waitFor(() =>
        processRow(daemon!)?.ppid !== run.wrapperPid && nameOf(daemon!) === "sleep" &&
        // It has that name before exec ends, and its environment only then.
        runIdOf(daemon!) === (env === "" ? undefined : "another")
      );
      const background = { pid: daemon!, name: "sleep" };
      const found = env === "" ? { count: 1, background } : { count: 0, background: undefined };
      assertEquals(await cleanUpOrphans(run, TERM, within(60_000)).all, found);
      // The run of another supervisor, which the app has started, is not the app's.
      assertEquals(isAlive(daemon!), env !== "");
      if (env !== "") Deno.kill(daemon!, "SIGKILL");
    }
  },
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
  await cleanUpOrphans(run, TERM, within(50)).all;
  assert(!isAlive(member!));
});
