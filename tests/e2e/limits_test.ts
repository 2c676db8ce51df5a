/** Limits on memory and age, and the environment of a process. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/mod.ts";
import { commandOf, livingWith } from "../fixtures/run_members.ts";
import { isAlive } from "../support/procsup.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

/** The environment of a process, as the kernel reports it. */
function environOf(pid: number): Record<string, string> {
  const text = Deno.readTextFileSync(`/proc/${pid}/environ`);
  return Object.fromEntries(
    text.split("\0").filter((entry) => entry !== "").map((entry) => {
      const at = entry.indexOf("=");
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}

/** Starts a program that only waits, and returns its environment. */
async function environment(
  test: TestManager,
  config: Record<string, unknown>,
): Promise<Record<string, string>> {
  const { pid } = await test.script("app", "exec sleep 1000", config);
  // Until then it may be one of procsup's programs.
  await waitFor(() => commandOf(pid) === "sleep 1000", { what: "the app" });
  const environ = environOf(pid);
  await test.manager.remove("app");
  return environ;
}

Deno.test("max_memory counts the whole tree, so a child that allocates causes a restart", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using test = await TestManager.open();
  const env = { MARK: crypto.randomUUID() };
  // The second start finds the gate and stays small.
  const app = "[ -e begun ] || { touch begun; " +
    "sh -c 'x=$(head -c 60000000 /dev/zero | tr \"\\\\0\" x); sleep 1000' & }; " +
    "exec sleep 1000";
  const { pid } = await test.script("app", app, { max_memory: "30MB", env });
  await waitFor(() => test.info("app").restarts === 1, { what: "a restart" });
  const now = await test.until("app", "running");
  assertMatch(now.lastReason, /^memory \d+\.\d MB, more than its max_memory of 30MB$/);
  assert(now.pid !== pid && !isAlive(pid));
  // During exec it has no environment.
  await waitFor(() => livingWith(`MARK=${env.MARK}`).length === 2, {
    what: "the new one and its wrapper to be all there is",
  });
});

Deno.test("max_age replaces the app again and again, within the budget", async () => {
  await using test = await TestManager.open();
  await test.script("app", "exec sleep 1000", { max_age: "1s", max_restarts: 2 });
  await test.until("app", "errored");
  const { restarts, lastReason } = test.info("app");
  assertEquals([restarts, lastReason], [2, "reached its max_age, 2 restarts used up"]);
});

Deno.test("a max_age of several months does not expire at once", async () => {
  await using test = await TestManager.open();
  await test.script("app", "exec sleep 1000", { max_age: "9000h" });
  // On a busy machine it expires before the start has returned.
  await test.script("other", "exec sleep 1000", { max_age: "1s", max_restarts: 0 })
    .catch(() => {});
  await test.until("other", "errored");
  assertEquals([test.info("app").state, test.info("app").restarts], ["running", 0]);
});

Deno.test("env_file, inherit_env and env make up the environment, in order of precedence", async () => {
  await using test = await TestManager.open();
  await Deno.writeTextFile(`${test.home}/.env`, "A=file\nB='two words'\nHOME=/from/file\n");
  Deno.env.set("TEST_INHERITED", "yes");
  try {
    const all = await environment(test, { env_file: ".env", env: { A: "env" } });
    assertEquals([all.A, all.B, all.HOME, all.TEST_INHERITED], [
      "env",
      "two words",
      "/from/file",
      undefined,
    ], "the supervisor's environment is that of its start");
    assertEquals(all.PATH, Deno.env.get("PATH"));
    assertEquals(Object.keys(all).filter((key) => key.startsWith("PROCSUP_")).toSorted(), [
      "PROCSUP_BASE_NAME",
      "PROCSUP_ID",
      "PROCSUP_INSTANCE",
      "PROCSUP_NAME",
      "PROCSUP_NAMESPACE",
      "PROCSUP_RUN_ID",
    ]);
    await test.manager.close();
    await test.reopen();
    assertEquals((await environment(test, {})).TEST_INHERITED, "yes");
    assertEquals((await environment(test, { inherit_env: false })).TEST_INHERITED, undefined);
    const some = await environment(test, { inherit_env: ["TEST_INHERITED"] });
    assertEquals([some.TEST_INHERITED, some.PATH], ["yes", Deno.env.get("PATH")]);
  } finally {
    Deno.env.delete("TEST_INHERITED");
  }
});

Deno.test("env_file is read again at each start", async () => {
  await using test = await TestManager.open();
  await Deno.writeTextFile(`${test.home}/.env`, "A=1\n");
  await test.script("app", 'echo "$A" >>order; exec sleep 1000', { env_file: ".env" });
  await waitFor(() => test.lines("order").length === 1, { what: "the first start" });
  await Deno.writeTextFile(`${test.home}/.env`, "A=2\n");
  await test.manager.restart("app");
  await waitFor(() => test.lines("order").length === 2, { what: "the second start" });
  assertEquals(test.lines("order"), ["1", "2"]);
  await Deno.remove(`${test.home}/.env`);
  await assertRejects(() => test.manager.restart("app"), ProcsupError, "cannot be read");
  assertEquals(test.info("app").state, "errored");
});

Deno.test("increment_env gives every instance its own number, also later ones", async () => {
  await using test = await TestManager.open();
  const config = { instances: 2, env: { PORT: "3000" }, increment_env: "PORT" };
  await test.script("api", 'echo "$PROCSUP_INSTANCE $PORT" >>order; exec sleep 1000', config);
  await test.supervisor.scale("api", 3);
  await waitFor(() => test.lines("order").length === 3, { what: "three starts" });
  assertEquals(test.lines("order").toSorted(), ["0 3000", "1 3001", "2 3002"]);
});

Deno.test("an invalid environment is rejected before anything is registered", async () => {
  await using test = await TestManager.open();
  for (
    const [config, message] of [
      [{ env_file: "absent.env" }, "absent.env"],
      [{ increment_env: "NEVER_SET" }, '"NEVER_SET"'],
      [{ env: { PORT: "x" }, increment_env: ["PORT"] }, '"PORT"'],
      [{ env: { "A B": "1" } }, "A B"],
      [{ max_memory: "lots" }, "max_memory"],
      [{ max_age: "-1s" }, "max_age"],
    ] as const
  ) {
    const start = () => test.script("app", "exec sleep 1000", config);
    const error = await assertRejects(start, ProcsupError, message);
    assertEquals(error.code, "invalid_config", message);
  }
  assertEquals(test.manager.list(), []);
});
