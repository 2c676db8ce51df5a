/** The ten lifecycle hooks, with real processes. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { lastWords } from "../../src/manager/last_words.ts";
import { ProcsupError } from "../../src/mod.ts";
import { livingWith } from "../fixtures/run_members.ts";
import { readFileIfAny } from "../../src/platform/files/atomic_file.ts";
import { processTable } from "../../src/platform/scan/process_table.ts";
import { isAlive, programLine, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const HOOKS = [
  "pre_start",
  "post_start",
  "pre_stop",
  "post_stop",
  "pre_restart",
  "post_restart",
  "pre_reload",
  "post_reload",
] as const;

/** Hooks that each write their name to `order`. */
const WRITE_NAMES = Object.fromEntries(
  HOOKS.map((hook) => [hook, 'echo "$PROCSUP_EVENT" >>order']),
);

/** Writes when it starts and when it is terminated. */
const APP = "trap 'echo end >>order; exit 0' TERM; echo app >>order; sleep 1000 & wait";

/** Waits for that many lines and removes the file. */
async function takeOrder(test: TestManager, count: number): Promise<string[]> {
  await waitFor(() => test.lines("order").length >= count, { what: `${count} lines` });
  const lines = test.lines("order");
  await Deno.remove(`${test.home}/order`);
  return lines;
}

/** These must come in this order; others may come between. */
function assertOrder(lines: readonly string[], ...expected: string[]): void {
  assertEquals(lines.filter((line) => expected.includes(line)), expected);
}

Deno.test("hooks run around start, stop, restart and reload in the documented order", async () => {
  await using test = await TestManager.open();
  await test.script("app", APP, { hooks: WRITE_NAMES });
  const start = await takeOrder(test, 3);
  assertOrder(start, "pre_start", "app");
  assertOrder(start, "pre_start", "post_start");

  await test.manager.restart("app");
  const restart = await takeOrder(test, 8);
  // Hooks after a start do not wait for the app's output.
  assertOrder(restart, "pre_restart", "pre_stop", "end", "pre_start", "app");
  assertOrder(restart, "pre_restart", "pre_stop", "end", "pre_start", "post_restart");
  assertOrder(restart, "pre_restart", "pre_stop", "end", "post_stop");
  assertOrder(restart, "pre_start", "post_start");
  assertEquals(restart.length, 8);

  await test.manager.reload("app");
  const reload = await takeOrder(test, 8);
  assertOrder(reload, "pre_reload", "pre_stop", "end", "pre_start", "app");
  assertOrder(reload, "pre_reload", "pre_stop", "end", "pre_start", "post_reload");
  assertEquals(reload.filter((line) => line.endsWith("_restart")), [], "a reload is not a restart");

  await test.manager.stop("app");
  assertEquals(await takeOrder(test, 3), ["pre_stop", "end", "post_stop"]);
});

/** Automatic restarts: the configuration of each, and its trigger. */
const OWN_RESTARTS: readonly [
  string,
  Record<string, unknown>,
  (test: TestManager) => unknown,
][] = [
  ["age", { max_age: "1s" }, () => {}],
  ["memory", {}, ({ supervisor }) => {
    const app = supervisor.process("app");
    const { attempt } = app.snapshot;
    app.post({ type: "recycle_requested", attempt, reason: "memory", cause: "memory" });
  }],
  [
    "liveness",
    { health_check: { type: "command", command: "! rm sick", interval: "50ms", retries: 1 } },
    ({ home }) => Deno.writeTextFileSync(`${home}/sick`, ""),
  ],
  ["schedule", { cron_restart: "*/3 * * * * *" }, () => {}],
];

for (const [why, config, act] of OWN_RESTARTS) {
  Deno.test(`the restart hooks run around an automatic restart: ${why}`, async () => {
    await using test = await TestManager.open();
    await test.script("app", APP, { hooks: WRITE_NAMES, ...config });
    await waitFor(() => test.lines("order").includes("app"), { what: "the app" });
    await act(test);
    // A restart before the app is running has no stop.
    const restart = () => {
      const order = test.lines("order");
      const from = order.indexOf("pre_restart", order.indexOf("app"));
      return from < 0 ? [] : order.slice(from, order.indexOf("post_restart", from) + 1);
    };
    await waitFor(() => restart().length > 0, { what: "the restart" });
    assertOrder(restart(), "pre_restart", "pre_stop", "end", "pre_start", "post_restart");
    assertEquals(test.lines("order").filter((line) => line.endsWith("_reload")), []);
  });
}

Deno.test("a reload by signal fires the reload hooks and no stop hooks", async () => {
  await using test = await TestManager.open();
  const app = "trap 'echo hup >>order' HUP; echo app >>order; while :; do sleep 1000 & wait; done";
  await test.script("app", app, { hooks: WRITE_NAMES, reload_signal: "SIGHUP" });
  const { pid } = test.info("app");
  await takeOrder(test, 3);
  await test.manager.reload("app");
  assertOrder(await takeOrder(test, 3), "pre_reload", "hup");
  assertEquals(test.info("app").pid, pid);
});

Deno.test("a failing pre_start ends errored with its output, launches nothing and is not retried", async () => {
  await using test = await TestManager.open();
  const hooks = {
    pre_start: "echo migrating; echo no database >&2; exit 3",
    post_start: "touch x",
  };
  const start = () => test.script("app", "echo app >>order; sleep 1000", { hooks });
  const error = await assertRejects(start, ProcsupError);
  assertEquals(error.message, 'Cannot start "app": pre_start hook failed with exit code 3');
  const said = () => lastWords(test.supervisor.process("app"));
  assertEquals((await said()).lastOutput.toSorted(), ["migrating", "no database"]);
  const { state, restarts, pid, nextRestartAt } = test.info("app");
  assertEquals([state, restarts, pid, nextRestartAt], ["errored", 0, 0, null]);
  await waitFor(() => test.published("app", "note").length === 1, { what: "the note" });
  const note = test.published("app", "note")[0]!.reason;
  assertMatch(note, /^pre_start hook failed with exit code 3: /);
  assert(note.includes("migrating") && note.includes("no database"), note);
  assertEquals(test.warnings, [`"app": ${note}`], "the supervisor's log has it too");
  assertEquals(test.lines("order"), []);
  await test.supervisor.reconfigure("app", { keys: { hooks: { pre_start: null } } });
  await test.supervisor.restart("app");
  await waitFor(() => test.lines("order").length === 1);
  assertEquals((await said()).lastOutput, [], "that of the new run");
  const env = `${test.home}/.env`;
  Deno.writeTextFileSync(env, "");
  await test.supervisor.reconfigure("app", { keys: { env_file: env } });
  Deno.removeSync(env);
  const { stderr } = test.supervisor.process("app").logs;
  Deno.writeTextFileSync(stderr, "of the run before\n", { append: true });
  assertEquals((await said()).lastOutput, ["of the run before"]);
  const [{ error: unlaunched } = {}] = await test.supervisor.restart("app");
  assertMatch(unlaunched!.message, /^Cannot start "app": .*\.env/);
  assertEquals((await said()).lastOutput, [], "not that of the run before");
});

Deno.test("a pre_start that times out is killed with everything it forked, and ends errored", async () => {
  await using test = await TestManager.open();
  const env = { MARK: crypto.randomUUID() };
  const command = "echo waiting for the lock; trap '' TERM; (sleep 1000; true) & sleep 1000; true";
  const hooks = { pre_start: { command, timeout: "1s" } };
  await assertRejects(() => test.script("app", "sleep 1000", { hooks, env }), ProcsupError);
  assertEquals(test.info("app").state, "errored");
  await waitFor(() => livingWith(`MARK=${env.MARK}`).length === 0, { what: "all to be gone" });
  await waitFor(() => test.warnings.length === 1, { what: "the warning" });
  assertEquals(
    test.warnings[0],
    '"app": pre_start hook timed out after 1000 ms and was killed: waiting for the lock',
  );
});

Deno.test("a failing pre_start with ignore_failure lets the app start", async () => {
  await using test = await TestManager.open();
  const hooks = { pre_start: { command: "exit 3", ignore_failure: true } };
  assertEquals((await test.script("app", "exec sleep 1000", { hooks })).state, "running");
  assertEquals(test.warnings.length, 1);
});

Deno.test("pre_start runs again for every automatic restart", async () => {
  await using test = await TestManager.open();
  const hooks = { pre_start: 'echo "$PROCSUP_RESTARTS" >>order' };
  const config = { hooks, max_restarts: 2, restart_delay: "10ms" };
  await test.script("app", "exit 1", config);
  await test.until("app", "errored");
  assertEquals(test.lines("order"), ["0", "1", "2"]);
});

Deno.test("only pre_start can prevent anything by failing or hanging", async () => {
  await using test = await TestManager.open();
  const others = HOOKS.filter((hook) => hook !== "pre_start");
  for (const [name, command] of [["fails", "exit 1"], ["hangs", "sleep 1000"]] as const) {
    const hooks = Object.fromEntries(
      others.map((hook) => [hook, { command, timeout: "200ms" }]),
    );
    await test.script(name, "exec sleep 1000", { hooks });
    await test.manager.restart(name);
    await test.manager.reload(name);
    await test.manager.stop(name);
    assertEquals([test.info(name).state, test.info(name).restarts], ["stopped", 0]);
    const noted = () => test.published(name, "note").map(({ reason }) => reason.split(" ")[0]);
    await waitFor(() => new Set(noted()).size === others.length, { what: "a note of each" });
    assertEquals([...new Set(noted())].toSorted(), others.toSorted());
  }
});

Deno.test("hooks that are not awaited delay nothing", async () => {
  await using test = await TestManager.open();
  const slow = { command: "while [ ! -e gate ]; do sleep 0.1; done; exit 1", timeout: "1h" };
  const hooks = { post_start: slow, post_stop: slow, post_restart: slow, post_reload: slow };
  await test.script("app", "exec sleep 1000", { hooks });
  await test.manager.restart("app");
  await test.manager.reload("app");
  await test.manager.stop("app");
  assertEquals(test.warnings, []);
  Deno.writeTextFileSync(`${test.home}/gate`, "");
  await waitFor(() => test.warnings.length >= 8, { what: "the hooks to be over" });
});

Deno.test("hooks get variables about their process, and inherit the app's environment", async () => {
  await using test = await TestManager.open();
  const tell = 'echo "$PROCSUP_NAME $PROCSUP_ID $PROCSUP_PID $PROCSUP_EVENT $PROCSUP_RESTARTS ' +
    '[$PROCSUP_EXIT_CODE] [$PROCSUP_SIGNAL] $MINE $PWD" >>order';
  const hooks = { pre_start: tell, post_start: tell, pre_stop: tell, post_stop: tell };
  const config = { hooks, env: { MINE: "yes" }, restart_delay: "10ms" };
  const { id, pid } = await test.script("app", "exec sleep 1000", config);
  await takeOrder(test, 2);
  Deno.kill(pid, "SIGKILL");
  await waitFor(() => test.info("app").restarts === 1, { what: "a restart" });
  const second = (await test.until("app", "running")).pid;
  const restart = await takeOrder(test, 2);
  const rest = `yes ${test.home}`;
  assertEquals(restart[0], `app ${id} 0 pre_start 1 [137] [SIGKILL] ${rest}`);
  assertEquals(restart[1], `app ${id} ${second} post_start 1 [137] [SIGKILL] ${rest}`);
  await test.manager.stop("app");
  assertEquals(await takeOrder(test, 2), [
    `app ${id} ${second} pre_stop 1 [137] [SIGKILL] ${rest}`,
    `app ${id} 0 post_stop 1 [143] [SIGTERM] ${rest}`,
  ]);
});

Deno.test("a forced stop does not wait for pre_stop", async () => {
  await using test = await TestManager.open();
  const hooks = { pre_stop: "touch begun; sleep 1000" };
  await test.script("app", "exec sleep 1000", { hooks });
  await test.manager.forceStop("app");
  // It would have been killed at its timeout, with a warning.
  assertEquals(test.warnings, []);
});

Deno.test("only the end of a hook's output is kept", async () => {
  await using test = await TestManager.open();
  const flood = "head -c 100000000 /dev/zero | tr '\\0' x; printf END; exit 1";
  await test.script("app", "exec sleep 1000", { hooks: { post_start: flood } });
  await waitFor(() => test.warnings.length === 1, { what: "the warning" });
  assert(test.warnings[0]!.endsWith("xEND"));
  assert(test.warnings[0]!.length < 3000, `${test.warnings[0]!.length} characters`);
});

Deno.test("a shutdown waits for each hook up to its timeout, and leaves none behind", async () => {
  await using folder = tempHome();
  const pidOf = (hook: string) => readFileIfAny(`${folder.path}/${hook}`)?.trimEnd();
  const marks = (hook: string) => `echo $$ >${folder.path}/${hook}`;
  {
    await using daemon = await TestDaemon.start();
    await daemon.startScript("app", "exec sleep 1000", {
      hooks: {
        post_start: { command: `${marks("start")}; sleep 1000`, timeout: "1500ms" },
        post_stop: `sleep 0.3; ${marks("stop")}`,
      },
    });
    await daemon.startScript("deleted", "exec sleep 1000", {
      hooks: { post_stop: { command: `${marks("deleted")}; sleep 1000`, timeout: "1500ms" } },
    });
    await daemon.client.call("delete", "deleted");
    await waitFor(() => pidOf("deleted"), { what: "post_stop to begin" });
    await waitFor(() => pidOf("start"), { what: "post_start to begin" });
  }
  assert(pidOf("stop"));
  assert(!isAlive(Number(pidOf("start"))));
  assert(!isAlive(Number(pidOf("deleted"))));
});

Deno.test("a new daemon terminates a running pre_start, but not what an earlier hook left behind", async () => {
  const { home } = daemon;
  const pids = (file: string) =>
    (readFileIfAny(`${home}/${file}`) ?? "").split("\n").filter(Boolean).map(Number);
  const leave = `setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >${home}/left`;
  const hold = `echo $$ >>${home}/shells; while [ -e ${home}/hold ]; do sleep 0.05; done`;
  await daemon.startScript("app", "exec sleep 1000", {
    hooks: { pre_start: `[ -e ${home}/left ] || { ${leave}; }; ${hold}` },
  });
  const [left] = pids("left");
  await daemon.kill();
  await daemon.run();
  assert(isAlive(left!));

  // Ages of processes have a resolution of a second.
  const soon = Deno.osUptime() + 2;
  await waitFor(() => Deno.osUptime() >= soon, { what: "two seconds" });
  Deno.writeTextFileSync(`${home}/hold`, "");
  const restart = daemon.client.call("restart", "app").catch(() => {});
  await waitFor(() => pids("shells").length === 2, { what: "the second pre_start" });
  await daemon.kill();
  await restart;
  await daemon.run();
  await waitFor(() => pids("shells").length === 3, { what: "the third pre_start" });
  assertEquals([isAlive(pids("shells")[1]!), isAlive(left!)], [false, true]);
  Deno.removeSync(`${home}/hold`);
  await waitFor(async () => (await daemon.status("app")).state === "running");
  Deno.kill(left!, "SIGKILL");
});

Deno.test("a hook that prints goes on after its daemon was killed, and leaves nothing running", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const file = `${daemon.home}/hooked`;
  const hooked = () => readFileIfAny(file) ?? "";
  const print = "head -c 200000 /dev/zero && echo one && echo two >&2";
  const hook = `cat; echo $$ >${file}; while [ ! -e ${daemon.home}/go ]; do sleep 0.1; done; ` +
    `${print} && echo done >>${file}`;
  await daemon.startScript("app", "exec sleep 1000", { hooks: { post_start: hook } });
  await waitFor(() => hooked().endsWith("\n"), { what: "the hook" });
  const session = Number(hooked());
  await daemon.kill();
  await Deno.writeTextFile(`${daemon.home}/go`, "");
  await waitFor(() => hooked().endsWith("done\n"), { what: "the end of the hook" });
  await waitFor(() => processTable().every(({ sid }) => sid !== session), { what: "its end" });
});

Deno.test("a daemon killed in the pre_restart hook of an automatic restart runs it again, before the stop", async () => {
  const { home } = daemon;
  const lines = () => (readFileIfAny(`${home}/order`) ?? "").split("\n").filter(Boolean);
  const hold = `while [ ! -e ${home}/go ]; do sleep 0.1; done`;
  await daemon.startScript(
    "app",
    `trap 'echo end >>${home}/order; exit 0' TERM; sleep 1000 & wait`,
    {
      max_age: "1s",
      hooks: { pre_restart: `echo begin >>${home}/order; ${hold}; echo restart >>${home}/order` },
    },
  );
  await waitFor(() => lines().length === 1, { what: "the hook" });
  await daemon.kill();
  await daemon.run();
  await waitFor(() => lines().length > 1, { what: "the hook of the next daemon" });
  await Deno.writeTextFile(`${home}/go`, "");
  await waitFor(() => lines().length >= 4, { what: "the stop" });
  assertEquals(lines().slice(0, 4), ["begin", "begin", "restart", "end"]);
});

Deno.test("a stop continues after a killed daemon: one pre_stop, one signal", async () => {
  const file = `${daemon.home}/order`;
  const lines = () => (readFileIfAny(file) ?? "").split("\n").filter(Boolean);
  const forgetful =
    `trap 'echo signal >>${file}' TERM; echo up >>${file}; while :; do sleep 0.1; done`;
  await daemon.startScript("app", forgetful, {
    stop_timeout: "2s",
    hooks: { pre_stop: `echo pre_stop >>${file}` },
  });
  await waitFor(() => lines().length === 1, { what: "the app" });
  const stop = daemon.client.call("stop", "app").catch(() => {});
  await waitFor(() => lines().includes("signal"), { what: "the signal" });
  const { id } = await daemon.status("app");
  const record = daemon.recordOf(id);
  const isRecorded = () => /"signalledAt":\d/.test(Deno.readTextFileSync(record));
  await waitFor(isRecorded, { what: "the record of the signal" });
  await daemon.kill();
  await stop;
  await daemon.run();
  await daemon.client.call("wait", { target: "app", for: "stopped" });
  assertEquals(lines(), ["up", "pre_stop", "signal"]);
  assertEquals((await daemon.status("app")).last_exit?.signal, "SIGKILL");
});

Deno.test("restart and reload fire their hooks through the socket and the command line", async () => {
  const order = `${daemon.home}/order`;
  const write = `echo "$PROCSUP_EVENT" >>${order}`;
  const names = ["pre_restart", "post_restart", "pre_reload", "post_reload"];
  const hooks = Object.fromEntries(names.map((name) => [name, write]));
  await daemon.startScript("app", "exec sleep 1000", { hooks });
  const lines = () => Deno.readTextFileSync(order).trimEnd().split("\n");
  await daemon.client.call("restart", "app");
  await waitFor(() => lines().length === 2, { what: "the hooks of the restart" });
  await daemon.client.call("reload", "app");
  await waitFor(() => lines().length === 4, { what: "the hooks of the reload" });
  assertEquals((await daemon.cli("restart", "app", "--no-wait")).code, 0);
  await waitFor(() => lines().length === 6, { what: "the hooks of another restart" });
  assertEquals((await daemon.cli("reload", "app", "--no-wait")).code, 0);
  await waitFor(() => lines().length === 8, { what: "the hooks of another reload" });
  assertEquals(lines(), [...names, ...names]);
});

Deno.test("a hook that runs procsup on its own app does not deadlock", async () => {
  const program = `PROCSUP_HOME=${daemon.home} ${programLine()}`;
  const once = (name: string, verb: string) =>
    `mkdir ${daemon.home}/${name} 2>/dev/null || exit 0; ${program} ${verb} app --no-wait`;
  await daemon.startScript("app", "exec sleep 1000", {
    hooks: {
      post_start: once("a", "restart"),
      post_stop: once("b", "restart"),
      pre_stop: { command: `${program} stop app`, timeout: "2s" },
    },
  });
  const settled = async () => (await daemon.status("app")).state === "running";
  await waitFor(() => Deno.statSync(`${daemon.home}/b`).isDirectory && settled(), {
    what: "the restarts of the hooks",
  });
  await daemon.client.call("stop", { target: "app" });
  assertEquals((await daemon.status("app")).state, "stopped");
});

Deno.test("pre_start and pre_reload cannot restart their own app, which would never end", async () => {
  const said = (verb: string) =>
    `PROCSUP_HOME=${daemon.home} ${programLine()} ${verb} app --no-wait ` +
    `>>${daemon.home}/said 2>&1; echo "$?" >>${daemon.home}/said`;
  const { results: [app] } = await daemon.startScript("app", "exec sleep 1000", {
    hooks: { pre_start: said("restart"), pre_reload: said("reload") },
  });
  assertEquals([app!.ok, app!.state], [true, "running"]);
  await daemon.client.call("reload", "app");
  const refused = (verb: string, hook: string) => [
    `✘ app  Cannot ${verb} "app" in its own ${hook} hook: that would run the hook again, without end`,
    "6",
  ];
  const lines = Deno.readTextFileSync(`${daemon.home}/said`).trimEnd().split("\n");
  assertEquals(lines.filter((line) => !line.includes("hint: procsup why")), [
    ...refused("restart", "pre_start"),
    ...refused("reload", "pre_reload"),
    ...refused("restart", "pre_start"),
  ]);
});
