/** One hook: its environment, how it ends, and how failures are reported. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import type { HookConfig } from "../../src/model/process_config.ts";
import { type HookContext, hookEnvironment, runHook } from "../../src/process/hooks.ts";
import { livingWith } from "../fixtures/run_members.ts";
import { exitOf, inState } from "../model/life.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

function owner(changes: Partial<HookContext> = {}): HookContext {
  return {
    id: "0f0e0d0c-0000-4000-8000-000000000000",
    name: "api:1",
    cwd: "/",
    home: "/home/of/procsup",
    user: () => undefined,
    inherited: {},
    env: () => ({ PATH: "/usr/bin:/bin", MINE: "yes", PROCSUP_NAME: "other" }),
    snapshot: inState("running"),
    ...changes,
  };
}

function hook(command: string, changes: Partial<HookConfig> = {}): HookConfig {
  return { command, timeoutMs: 60_000, ignoreFailure: false, runAsRoot: false, ...changes };
}

Deno.test("hookEnvironment() describes the process, over the app's environment", () => {
  const { MINE, ...told } = hookEnvironment("postStop", owner());
  assertEquals([MINE, told.PATH], ["yes", "/usr/bin:/bin"]);
  assertEquals({ ...told, PATH: undefined }, {
    PATH: undefined,
    PROCSUP_HOME: "/home/of/procsup",
    PROCSUP_EVENT: "post_stop",
    PROCSUP_NAME: "api:1",
    PROCSUP_BASE_NAME: "api",
    PROCSUP_ID: "0f0e0d0c-0000-4000-8000-000000000000",
    PROCSUP_PID: "2001",
    PROCSUP_RESTARTS: "0",
    PROCSUP_EXIT_CODE: "",
    PROCSUP_SIGNAL: "",
  });
});

Deno.test("hookEnvironment() includes the last exit", () => {
  const told = (how: number | string) => {
    const snapshot = { ...inState("running"), lastExit: exitOf(how) };
    const env = hookEnvironment("postStop", owner({ snapshot }));
    return [env.PROCSUP_EXIT_CODE, env.PROCSUP_SIGNAL];
  };
  assertEquals(told(3), ["3", ""]);
  assertEquals(told("SIGTERM"), ["143", "SIGTERM"]);
});

Deno.test("runHook() runs the command in the working directory with that environment", async () => {
  await using home = tempHome();
  const command = 'echo "$MINE $PROCSUP_NAME $PROCSUP_EVENT $PWD" >told';
  assertEquals(
    await runHook("preStart", hook(command), owner({ cwd: home.path })),
    undefined,
  );
  const told = await Deno.readTextFile(`${home.path}/told`);
  assertEquals(told, `yes api:1 pre_start ${home.path}\n`);
});

Deno.test("runHook() runs nothing without a command", async () => {
  assertEquals(await runHook("preStart", hook(""), owner({ cwd: "/absent" })), undefined);
});

Deno.test("runHook() reports the exit code and both outputs of a failed hook", async () => {
  const problem = await runHook("preStop", hook("echo out; echo err >&2; exit 3"), owner());
  assertMatch(problem!, /^pre_stop hook failed with exit code 3: (out\nerr|err\nout)$/);
  assertEquals(
    await runHook("preStop", hook("exit 1"), owner()),
    "pre_stop hook failed with exit code 1",
  );
});

Deno.test("runHook() reports a hook that is not a command, or that a signal ended", async () => {
  const absent = await runHook("preStop", hook("procsup-absent"), owner());
  assertMatch(absent!, /^pre_stop hook failed with exit code 127: .*procsup-absent/);
  const killed = await runHook("preStop", hook("kill -9 $$"), owner());
  assertEquals(killed, "pre_stop hook failed with exit code 137");
});

Deno.test("runHook() reports a missing working directory", async () => {
  const problem = await runHook("postStop", hook("true"), owner({ cwd: "/absent/folder" }));
  assertMatch(problem!, /^post_stop hook cannot run: /);
});

Deno.test("runHook() kills a hook and everything it forked at its timeout, and reports its output", async () => {
  const mark = `MARK=${crypto.randomUUID()}`;
  const env = () => ({ PATH: "/usr/bin:/bin", MARK: mark.slice(5) });
  const command = "echo begun; trap '' TERM; sleep 1000 & (sleep 1000; true) & sleep 1000; true";
  const problem = await runHook("preStart", hook(command, { timeoutMs: 1000 }), owner({ env }));
  assertEquals(problem, "pre_start hook timed out after 1000 ms and was killed: begun");
  await waitFor(() => livingWith(mark).length === 0, { what: "all of the hook to be gone" });
});

Deno.test("runHook() does not wait for processes that a hook leaves in the background", async () => {
  const mark = `MARK=${crypto.randomUUID()}`;
  const env = () => ({ PATH: "/usr/bin:/bin", MARK: mark.slice(5) });
  // Waiting for it would end with a reported timeout.
  const problem = await runHook("postStart", hook("sleep 1000 & echo $!"), owner({ env }));
  assertEquals(problem, undefined);
  for (const pid of livingWith(mark)) Deno.kill(pid, "SIGKILL");
});

Deno.test("runHook() keeps the end of what a hook prints, as a note and history have it", async () => {
  const command = "head -c 50000000 /dev/zero | tr '\\0' x; printf END; exit 1";
  const problem = await runHook("preStart", hook(command), owner());
  assert(problem!.endsWith("xEND"), problem!.slice(-20));
  assertEquals(problem!.length, "pre_start hook failed with exit code 1: ".length + 2048);
});

Deno.test("runHook() reports nothing for a hook that was cancelled", async () => {
  const enough = AbortSignal.timeout(100);
  assertEquals(
    await runHook("preStart", hook("sleep 1000"), owner(), { signal: enough }),
    undefined,
  );
  assertEquals(
    await runHook("preStart", hook("sleep 1000"), owner(), { signal: AbortSignal.abort() }),
    undefined,
  );
});

Deno.test("runHook() retries after a lack of resources, except for pre_start", async () => {
  const refusal = Object.assign(new Error("Too many open files"), { code: "EMFILE" });
  let refusals = 1;
  const refused = () =>
    owner({ prepare: () => refusals-- > 0 ? Promise.reject(refusal) : undefined });
  assertEquals(await runHook("postStart", hook("exit 0"), refused()), undefined);
  refusals = 1;
  await assertRejects(() => runHook("preStart", hook("exit 0"), refused()), ProcsupError, "many");
  refusals = Infinity;
  const problem = await runHook("postStart", hook("exit 0", { timeoutMs: 300 }), refused());
  assertEquals(problem, "post_start hook cannot run: Too many open files");
});

Deno.test("runHook() stops retrying a hook that is cancelled", async () => {
  const refusal = Object.assign(new Error("Too many open files"), { code: "EMFILE" });
  const abort = new AbortController();
  const lacking = owner({ prepare: () => Promise.reject(refusal) });
  const run = runHook("postStart", hook("exit 0"), lacking, { signal: abort.signal });
  abort.abort();
  assertEquals(await run, undefined);
});
