/** Apps with configured log paths. */

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { listArchives } from "../../src/logs/write/archives.ts";
import { lastTextLines } from "../../src/logs/read/last_lines.ts";
import { CAN_COLLAPSE } from "../logs/rotation_scene.ts";
import { tempHome } from "../support/temp_home.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

const SLEEP = "exec sleep 1000";

function text(path: string): string {
  return Deno.readTextFileSync(path);
}

Deno.test("log.stdout and log.stderr are written, rotated, read, flushed, adopted and cleared", {
  ignore: !CAN_COLLAPSE,
}, async () => {
  await using folder = tempHome();
  await using test = await TestManager.open();
  const path = (name: string) => `${folder.path}/new/${name}`;
  const log = { stdout: path("{name}-{instance}.out"), stderr: path("{instance}.err") };
  const script = `echo out $PROCSUP_INSTANCE; echo err >&2; read line; seq 20000; ${SLEEP}`;
  await test.script("api", script, {
    ...{ instances: 2, stdin: true },
    log: { ...log, max_size: "8KB", max_files: 100 },
  });
  const { supervisor } = test;
  await waitFor(() => text(path("api-1.out")) === "out 1\n" && text(path("0.err")) === "err\n");
  assertEquals(Deno.statSync(path("0.err")).mode! & 0o777, 0o600);
  assertEquals(supervisor.process("api:1").logs, {
    stdout: path("api-1.out"),
    stderr: path("1.err"),
  });
  // The FIFO for standard input is in the home.
  await Deno.writeTextFile(inputOf(test, "api:0"), "go\n");
  const archives = () => listArchives(path("api-0.out")).length;
  await waitFor(() => archives() > 3, { what: "archives beside the log" });
  await waitFor(async () => (await lastTextLines(path("api-0.out"), 1)).join() === "20000");

  const pids = test.pids("api");
  test.release();
  for (const { name } of Deno.readDirSync(`${test.home}/state/processes`)) {
    Deno.removeSync(`${test.home}/state/processes/${name}`);
  }
  await test.reopen();
  assertEquals(test.pids("api").sort(), pids.sort(), "found without their records");
  assertEquals(test.supervisor.process("api:0").logs.stdout, path("api-0.out"));

  await test.supervisor.flush("api");
  assertEquals([archives(), text(path("api-0.out"))], [0, ""]);
  await Deno.writeTextFile(inputOf(test, "api:1"), "go\n");
  await waitFor(async () => (await lastTextLines(path("api-1.out"), 1)).join() === "20000");
  await test.supervisor.remove("all");
  await test.script("other", SLEEP, { log: { stdout: path("api-1.out") } });
  assertEquals(await lastTextLines(path("api-1.out"), 1), [], "lines of the deleted app");
});

function inputOf(test: TestManager, name: string): string {
  const { snapshot: { run } } = test.supervisor.directory.resolve(name)[0]!;
  return `${test.home}/apps/${name}/stdin.${run!.runId}`;
}

Deno.test("log.stdout and log.stderr are one file when both name it", async () => {
  await using folder = tempHome();
  await using test = await TestManager.open();
  const both = `${folder.path}/both.log`;
  await test.script("api", `echo one; echo two >&2; ${SLEEP}`, {
    log: { stdout: both, stderr: both },
  });
  await waitFor(() => text(both) === "one\ntwo\n");
  assertEquals(test.supervisor.process("api").logs.stderr, `${test.home}/apps/api/stderr.log`);
});

Deno.test("a changed log.stdout applies to the next run", async () => {
  await using folder = tempHome();
  await using test = await TestManager.open();
  await test.script("api", `echo up; ${SLEEP}`);
  const path = `${folder.path}/api.log`;
  const first = `${test.home}/apps/api/stdout.log`;
  await waitFor(() => text(first) === "up\n");
  await test.supervisor.reconfigure("api", { keys: { log: { stdout: path } } });
  await waitFor(() => text(path) === "up\n");
  assertEquals(text(first), "up\n");
});

Deno.test("log paths are rejected if they involve other users, the home or another log", async () => {
  await using folder = tempHome();
  await using test = await TestManager.open();
  const at = folder.path;
  Deno.mkdirSync(`${at}/open`);
  Deno.chmodSync(`${at}/open`, 0o1777);
  Deno.symlinkSync(at, `${at}/link`);
  Deno.mkdirSync(`${at}/dir`);
  await test.script("api", SLEEP, {
    instances: 2,
    log: { stdout: `${at}/api-{instance}.log` },
  });
  const isRoot = Deno.uid() === 0;
  if (isRoot) {
    Deno.mkdirSync(`${at}/theirs`);
    Deno.chownSync(`${at}/theirs`, 65534, 65534);
    Deno.writeTextFileSync(`${at}/their.log`, "");
    Deno.chownSync(`${at}/their.log`, 65534, 65534);
  }
  const cases: [Record<string, unknown>, string][] = [
    [{ log: { stdout: `${at}/open/x.log` } }, `others may write to "${at}/open"`],
    [{ log: { stdout: `${at}/one.log` }, instances: 2 }, "is one file for 2 instances"],
    [{ log: { stdout: `${at}/link/api-7.log` } }, `log "${at}/api-7.log" belongs to "api"`],
    [{ log: { stderr: `${test.home}/token` } }, "is in the home"],
    [{ log: { stdout: `${at}/a`, stderr: `${at}/a`, pipe: true } }, "log.pipe needs two files"],
    [{ log: { stdout: `${at}/dir` } }, "it is not a file"],
    [{ log: { stdout: `/dev/null` } }, "it is not a file"],
    [{ log: { rotate: "hourly" } }, "expected one of size, daily"],
    ...(isRoot
      ? [
        [{ log: { stdout: `${at}/theirs/x` }, uid: "nobody", cwd: "/" }, "belongs to user 65534"],
        [{ log: { stdout: `${at}/their.log` } }, "belongs to user 65534"],
      ] as [Record<string, unknown>, string][]
      : []),
  ];
  for (const [config, problem] of cases) {
    const error = await assertRejects(() => test.script("other", SLEEP, config), ProcsupError);
    assertStringIncludes(error.message, problem);
    assertEquals(test.supervisor.directory.list().length, 2, problem);
  }
  await test.script("single", SLEEP, { log: { stdout: `${at}/single.log` } });
  const error = await assertRejects(() => test.supervisor.scale("single", 2), ProcsupError);
  assertStringIncludes(error.message, "is one file for 2 instances");
});

Deno.test("of two apps that are added at once with the same log, one is refused", async () => {
  await using folder = tempHome();
  await using test = await TestManager.open();
  const added = ["one", "other"].map((name) =>
    test.script(name, SLEEP, {
      log: { stdout: `${folder.path}/log` },
      secrets: { TOKEN: { command: "sleep 0.2; echo secret" } },
    })
  );
  const [, refused] = (await Promise.allSettled(added)).toSorted((a, b) =>
    a.status < b.status ? -1 : 1
  );
  assertStringIncludes(String((refused as PromiseRejectedResult).reason), 'belongs to "');
  assertEquals(test.supervisor.list().length, 1);
});

Deno.test("a log path that cannot be created leaves the app running with the old one", async () => {
  await using test = await TestManager.open();
  const { pid, config } = await test.script("api", SLEEP);
  const keys = { log: { stdout: "/proc/none/out.log" } };
  const { outcomes: [outcome] } = await test.supervisor.reconfigure("api", { keys });
  assertEquals(outcome!.error?.code, "start_failed");
  assertStringIncludes(outcome!.error!.message, 'Cannot use log "/proc/none');
  const now = test.info("api");
  assertEquals([now.state, now.pid, now.config], ["running", pid, config]);
});

Deno.test("log paths with many instances in them are compared at once", async () => {
  await using folder = tempHome();
  await using test = await TestManager.open();
  const many = "{instance}".repeat(7);
  await test.script("one", SLEEP, { log: { stdout: `${folder.path}/${many}x` } });
  // It would take minutes with a pattern that tries every division of the digits.
  await test.script("other", SLEEP, { log: { stdout: `${folder.path}/${"1".repeat(90)}` } });
  // One number for all of them.
  await test.script("third", SLEEP, { log: { stdout: `${folder.path}/0000001x` } });
  for (const taken of ["3333333x", `${many}x`, "111{instance}111x"]) {
    const error = await assertRejects(
      () => test.script("fourth", SLEEP, { log: { stdout: `${folder.path}/${taken}` } }),
      ProcsupError,
    );
    assertStringIncludes(error.message, 'belongs to "one"');
  }
});
