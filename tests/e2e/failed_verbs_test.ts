/** A verb that fails for every process is an error with the same message on every surface. */

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Client } from "../../src/client.ts";
import { StartFailedError } from "../../src/mod.ts";
import { unixRequest } from "../../src/protocol/unix_http.ts";
import { onStdio, refusal } from "../mcp/clients.ts";
import { TestManager } from "../support/test_manager.ts";
import { TestWeb } from "../support/web.ts";

const web = TestWeb.ofFile();

const SAYS = 'Cannot start "app": pre_start hook failed with exit code 1';
/** The same message in the library's words. */
const IN_CODE = 'Cannot start "app": preStart hook failed with exit code 1';
const SLEEPS = { entrypoint: "/bin/sleep", args: ["1000"] };

/** An app that fails to start while the file exists. */
function failing(folder: string, name = "app") {
  const hooks = { pre_start: `! test -e ${folder}/broken` };
  return { name, ...SLEEPS, cwd: folder, hooks };
}

/** The socket's answer to a request. */
async function envelope({ daemon, token }: TestWeb, verb: string, payload: unknown) {
  const response = await unixRequest(`${daemon.home}/procsup.sock`, {
    method: "POST",
    path: "/ipc",
    token: () => token,
    body: JSON.stringify({ action: verb, payload }),
  });
  return { status: response.status, ...JSON.parse(await response.text()) };
}

const VERBS = ["start", "restart", "reload", "rolling_reload"] as const;

for (const verb of VERBS) {
  Deno.test(`a failed ${verb} is an error on every surface`, async () => {
    const { daemon } = web;
    await daemon.client.call("start", failing(daemon.home));
    Deno.writeTextFileSync(`${daemon.home}/broken`, "");
    if (verb === "start") await daemon.client.call("stop", { target: "app" });

    const told = await envelope(web, verb, { target: "app" });
    assertEquals([told.status, told.success, told.error, told.code], [
      ...[422, false, SAYS, "start_failed"],
    ]);
    if (verb !== "start") assertEquals(told.data.status, "failed");
    assertEquals(
      told.data.results.map(({ ok, error }: { ok: boolean; error: string }) => [
        ...[ok, error],
      ]),
      [[false, SAYS]],
    );

    const body = verb === "rolling_reload" ? {} : undefined;
    const rest = await web.ask("POST", `/api/v1/processes/app/${verb}`, body);
    assertEquals([rest.status, rest.body.error, rest.body.code], [422, SAYS, "start_failed"]);

    const method = ({ start: "start", rolling_reload: "rollingReload" } as const)[
      verb as "start"
    ] ?? verb as "restart" | "reload";
    const ways = [{ home: daemon.home }, { url: web.url, token: web.token }];
    for (const way of ways) {
      const failed = await assertRejects(() => new Client(way)[method]("app"), StartFailedError);
      assertEquals([failed.summary, failed.state], [IN_CODE, "errored"]);
    }

    const words = verb === "rolling_reload" ? ["reload", "app", "--batch", "1"] : [verb, "app"];
    const command = await daemon.cli(...words);
    assertEquals([command.code, command.stdout], [1, ""]);
    assertStringIncludes(command.stderr, `✘ app  ${SAYS}`);
    const json = JSON.parse((await daemon.cli(...words, "--json")).stdout);
    assertEquals([json.status, json.results[0].ok], ["failed", false]);
  });
}

Deno.test("a failed start of a new app is an error too, and the app stays registered", async () => {
  Deno.writeTextFileSync(`${web.daemon.home}/broken`, "");
  const told = await envelope(web, "start", failing(web.daemon.home));
  assertEquals([told.status, told.success, told.data.state], [422, false, "errored"]);
  const rest = await web.ask("POST", "/api/v1/processes", failing(web.daemon.home, "other"));
  assertEquals([rest.status, rest.body.code, rest.body.state], [422, "start_failed", "errored"]);
  assertEquals((await web.ask("GET", "/api/v1/processes/other")).body.state, "errored");
  await using agent = await onStdio(web.daemon.home);
  for (const tool of ["restart_app", "reload_app"]) {
    assertStringIncludes(await refusal(agent.client, tool, { target: "app" }), '"status":"failed"');
  }
});

Deno.test("a verb that succeeded for some processes succeeds, and lists the failed ones", async () => {
  const { daemon } = web;
  await daemon.client.call("start", failing(daemon.home));
  await daemon.client.call("start", { name: "fine", ...SLEEPS, cwd: "/" });
  Deno.writeTextFileSync(`${daemon.home}/broken`, "");
  const told = await envelope(web, "restart", "all");
  assertEquals([told.status, told.success, told.data.status], [200, true, "restarted"]);
  const rest = await web.ask("POST", "/api/v1/processes/all/restart");
  assertEquals([rest.status, rest.body.status], [200, "restarted"]);
  for (const { results } of [told.data, rest.body]) {
    const ok = results.map((one: { name: string; ok: boolean }) => [one.name, one.ok]);
    assertEquals(ok, [["app", false], ["fine", true]]);
  }
  const { code, stdout, stderr } = await daemon.cli("restart", "all");
  assertEquals([code, stdout.startsWith("✔ fine  running")], [1, true]);
  assertStringIncludes(stderr, `✘ app  ${SAYS}`);
  for (const way of [{ home: daemon.home }, { url: web.url, token: web.token }]) {
    await assertRejects(() => new Client(way).restart("all"), StartFailedError, IN_CODE);
  }
});

Deno.test("an aborted rolling reload is an error, even if some instances were reloaded", async () => {
  const { daemon } = web;
  const hooks = { pre_start: '! test "$PROCSUP_NAME" = app:1 -a -e broken' };
  await daemon.client.call("start", {
    ...{ ...failing(daemon.home), hooks, instances: 3, min_uptime: "50ms" },
  });
  Deno.writeTextFileSync(`${daemon.home}/broken`, "");
  const told = await envelope(web, "rolling_reload", { target: "app" });
  const results = told.data.results.map((one: { ok: boolean }) => one.ok);
  assertEquals([told.success, told.data.status, results], [false, "failed", [true, false]]);
  const back = await envelope(web, "rolling_reload", { target: "app", rollback_on_failure: true });
  assertEquals([back.success, back.data.status], [false, "failed"]);
});

Deno.test("Manager throws the same errors as the other surfaces", async () => {
  await using test = await TestManager.open();
  await test.manager.addProcess({
    ...failing(test.home),
    hooks: {
      preStart: { command: `! test -e ${test.home}/broken` },
    },
  });
  Deno.writeTextFileSync(`${test.home}/broken`, "");
  for (const verb of ["restart", "reload", "rollingReload"] as const) {
    const failed = await assertRejects(() => test.manager[verb]("app"), StartFailedError);
    assertEquals([failed.summary, failed.state], [IN_CODE, "errored"]);
  }
});

Deno.test("signal skips stopped processes of a group, but fails for a named one", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  await test.script("up", "exec sleep 1000", { tags: ["web"] });
  await test.script("down", "exec sleep 1000", { tags: ["web"] });
  await supervisor.stop("down");
  for (const group of ["all", "tag:web"]) {
    const outcomes = await supervisor.signal(group, "SIGCONT");
    assertEquals(outcomes.map(({ process, error }) => [process.name, error]), [["up", undefined]]);
  }
  const [outcome] = await supervisor.signal("down", "SIGCONT");
  assertEquals(outcome!.error?.code, "wrong_state");
});
