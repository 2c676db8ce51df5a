import { assert, assertEquals } from "@std/assert";
import type { Run } from "../../src/model/process_state.ts";
import { Cgroups, Gatherer } from "../../src/platform/scan/cgroup.ts";
import { ulimitLines, ulimitProblem } from "../../src/platform/launch/ulimits.ts";
import { withFewDescriptors } from "../support/few_descriptors.ts";
import { tempHome } from "../support/temp_home.ts";

/** A folder that looks like a control group to its writers. */
function fakeGroup(base: string, controllers: string): void {
  Deno.writeTextFileSync(`${base}/cgroup.procs`, "");
  Deno.writeTextFileSync(`${base}/cgroup.subtree_control`, `${controllers}\n`);
  Deno.mkdirSync(`${base}/procsup`);
  Deno.writeTextFileSync(`${base}/procsup/cgroup.subtree_control`, `${controllers}\n`);
}

Deno.test("Cgroups writes the limits of a run to its group", async () => {
  await using home = tempHome();
  fakeGroup(home.path, "cpu memory pids io");
  const groups = new Cgroups(home.path);
  const limits = {
    ...{ memoryBytes: 2 ** 20, memoryHighBytes: 2 ** 19, cpuPercent: 150, cpuWeight: 50 },
    ...{ ioMax: "8:0 rbps=1048576", pids: 20, nofile: 5 },
  };
  assertEquals(groups.problem(limits), undefined);
  const path = groups.create("run", limits)!;
  assertEquals(path, `${home.path}/procsup/run`);
  const content = (file: string) => Deno.readTextFileSync(`${path}/${file}`);
  assertEquals(content("memory.max"), String(2 ** 20));
  assertEquals(content("cpu.max"), "150000 100000");
  assertEquals(content("pids.max"), "20");
  assertEquals(content("memory.high"), String(2 ** 19));
  assertEquals(content("cpu.weight"), "50");
  assertEquals(content("io.max"), "8:0 rbps=1048576");
});

Deno.test("Cgroups rejects limits without their controller, or without groups", async () => {
  await using home = tempHome();
  const needs = (name: string) => `needs a writable cgroup v2 with the ${name} controller`;
  const none = new Cgroups(undefined);
  assertEquals(none.problem({ memoryBytes: 1 }), `limits.memory ${needs("memory")}`);
  assertEquals(none.create("run"), undefined);
  assertEquals(none.members("run"), []);
  none.kill("run");
  none.remove("run");
  const missing = new Cgroups(`${home.path}/missing/deep`);
  assertEquals(missing.problem({ cpuPercent: 5 }), `limits.cpu_percent ${needs("cpu")}`);
});

Deno.test("Cgroups lists the members of a group and its subgroups, and removes an empty group", async () => {
  await using home = tempHome();
  fakeGroup(home.path, "");
  const groups = new Cgroups(home.path);
  const path = groups.create("run")!;
  assertEquals(groups.members("run"), []);
  Deno.writeTextFileSync(`${path}/cgroup.procs`, "12\n34\n");
  Deno.mkdirSync(`${path}/below`);
  Deno.writeTextFileSync(`${path}/below/cgroup.procs`, "56\n");
  assertEquals(groups.members("run"), [12, 34, 56]);

  groups.remove("run");
  await groups.settled();
  assert(exists(path), "it has a member");
  Deno.removeSync(path, { recursive: true });
  Deno.mkdirSync(path);
  groups.create("next");
  await groups.settled();
  assert(!exists(path), "left behind");
});

Deno.test("Cgroups leaves no group behind when the app exits while its group is being created", async () => {
  await using home = tempHome();
  fakeGroup(home.path, "");
  const child = new Deno.Command("/bin/sleep", { args: ["100000"] }).spawn();
  class Slow extends Cgroups {
    override async createAside(runId: string): Promise<boolean> {
      child.kill("SIGKILL");
      await child.status;
      this.remove(runId);
      await this.settled();
      return await super.createAside(runId);
    }
  }
  const groups = new Slow(home.path);
  const gatherer = new Gatherer(groups);
  const run = { runId: "run", wrapperPid: Deno.pid, wrapperStart: "", bootId: "" };
  gatherer.gather(run, child.pid, false);
  await gatherer.close();
  await groups.settled();
  assert(!exists(`${home.path}/procsup/run`));
});

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

Deno.test("ulimitLines() rounds up to the shell's units", () => {
  assertEquals(ulimitLines({ fileSizeBytes: 513, addressSpaceBytes: 1025, nofile: 9 }), [
    "ulimit -n 9 || exit 126",
    "ulimit -v 2 || exit 126",
    "ulimit -f 2 || exit 126",
  ]);
  assertEquals(ulimitLines({ pids: 3 }, 1024), ["ulimit -S -n 1024 2>/dev/null || :"]);
  assertEquals(ulimitLines({ nofile: 5 }, 1024), ["ulimit -n 5 || exit 126"]);
});

Deno.test("ulimitProblem() reports a limit above the hard limit", () => {
  const hard =
    /^Max open files\s+\S+\s+(\d+)/m.exec(Deno.readTextFileSync("/proc/self/limits"))![1];
  const problem = ulimitProblem({ nofile: Number(hard) + 1 }, false);
  assertEquals(
    problem,
    `limits.nofile ${Number(hard) + 1} is above ${hard}, the most that can be set here`,
  );
  assertEquals(ulimitProblem({ nofile: Number(hard), nproc: 1 }, false), undefined);
});

Deno.test("Gatherer moves no process when the app exits while its group is being created", async () => {
  const child = new Deno.Command("sleep", { args: ["1000"] }).spawn();
  const done: string[] = [];
  const groups = {
    async createAside() {
      child.kill("SIGKILL");
      await child.status;
      return true;
    },
    move: () => Promise.resolve(void done.push("move")),
    removeEmpty: () => Promise.resolve(void done.push("remove")),
  };
  const gatherer = new Gatherer(groups as unknown as Cgroups);
  gatherer.gather({ runId: "run", wrapperPid: Deno.pid } as Run, child.pid, false);
  await gatherer.close();
  assertEquals(done, ["remove"]);
});

Deno.test({
  name: "Cgroups and ownNiceness() find out again what they could not for lack of descriptors",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using home = tempHome();
    fakeGroup(home.path, "pids");
    const folder = new URL("../../src/platform/", import.meta.url).href;
    const script = `
      import { Cgroups } from "${folder}scan/cgroup.ts";
      import { ownNiceness } from "${folder}launch/ulimits.ts";
      const groups = new Cgroups(Deno.cwd());
      take();
      console.log(groups.create("run"), ownNiceness());
      release();
      console.log(groups.create("run"), ownNiceness());
    `;
    const told = await withFewDescriptors(script, home.path);
    const nice = new TextDecoder().decode(new Deno.Command("nice").outputSync().stdout).trim();
    assertEquals(told, `undefined 0\n${home.path}/procsup/run ${nice}\n`);
  },
});
