import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { TOOL_NAMES } from "../../src/mcp/tool_names.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { onHttp, onStdio, refusal, use, WAYS } from "./clients.ts";

const SERVER = new URL("../fixtures/waits_for_term.sh", import.meta.url).pathname;

for (const { name, connect } of WAYS) {
  Deno.test(`every tool acts on the live daemon when called over ${name}`, async () => {
    await using daemon = await TestDaemon.start();
    await using connected = await connect(daemon);
    const { client } = connected;

    assertEquals(await use(client, "list_apps"), { processes: [] });
    const started = await use(client, "start_app", { entrypoint: SERVER, env: { SECRET: "x" } });
    assertEquals([started.status, started.results[0].ok], ["started", true]);
    const { process } = started;
    assertEquals([process.name, process.state], ["waits_for_term", "running"]);
    assertEquals(process.config.env, { SECRET: "***" });
    assert(isAlive(process.pid));

    const status = await use(client, "get_status", { target: "waits_for_term" });
    assertEquals(status.process.pid, process.pid);
    const restarted = await use(client, "restart_app", { target: "waits_for_term" });
    assertEquals([restarted.status, restarted.results[0].state], ["restarted", "running"]);
    assert(!isAlive(process.pid));
    const reloaded = await use(client, "reload_app", { target: process.id });
    assertEquals(reloaded.status, "reloaded");

    assertEquals(await use(client, "save_state"), { status: "saved", count: 1 });
    const stopped = await use(client, "stop_app", { target: "all", timeout: "2s" });
    assertEquals([stopped.status, stopped.results[0].state], ["stopped", "stopped"]);
    assertEquals((await use(client, "delete_app", { target: "0" })).status, "deleted");
    assertEquals(await use(client, "resurrect_processes"), {
      status: "resurrected",
      count: 1,
      errors: [],
    });
    assertEquals((await use(client, "list_apps")).processes[0].state, "running");
  });
}

Deno.test("get_logs gives the lines that were asked for when they are counted, searched or of stderr", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("talker", "seq 1 200; echo oops >&2; exec sleep 1000");
  await using connected = await onStdio(daemon.home);
  const { client } = connected;
  await daemon.client.call("wait", { target: "talker", for: "ready" });
  const last = await use(client, "get_logs", { target: "talker", lines: 2 });
  assertEquals([last.logs, last.lines, last.stream], ["199\n200\n", "2", "stdout"]);
  assertStringIncludes(last.notice, "untrusted");
  const fifty = await use(client, "get_logs", { target: "talker" });
  assertEquals(fifty.logs.split("\n").length, 51);
  const stderr = await use(client, "get_logs", { target: "talker", stderr: true });
  assertEquals([stderr.logs, stderr.stream], ["oops\n", "stderr"]);
  assertEquals(
    (await use(client, "get_logs", { target: "talker", grep: "^19.$" })).logs.length,
    40,
  );
  assertEquals(
    (await use(client, "get_logs", { target: "talker", since: "1h", lines: 1 })).logs,
    "200\n",
  );
  assertStringIncludes(await refusal(client, "get_logs", { target: "talker", grep: "(" }), "grep");
});

Deno.test("tools tell their schemas and effects when they are listed", async () => {
  await using daemon = await TestDaemon.start();
  await using connected = await onHttp(daemon);
  const { tools } = await connected.client.listTools();
  assertEquals(tools.map(({ name }) => name), [...TOOL_NAMES]);
  for (const { name, annotations, inputSchema, outputSchema, description } of tools) {
    assert(description && outputSchema?.properties, name);
    assertEquals(inputSchema.additionalProperties, false, name);
    for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]) {
      assertEquals(typeof annotations?.[hint as "readOnlyHint"], "boolean", `${name} ${hint}`);
    }
  }
  const hints = new Map(tools.map(({ name, annotations }) => [name, annotations]));
  assert(hints.get("get_logs")!.readOnlyHint);
  assert(hints.get("delete_app")!.destructiveHint);
  assert(hints.get("stop_app")!.idempotentHint);
});

Deno.test("tools refuse bad input as results that name it", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.client.call("start", {
    name: "pair",
    entrypoint: "/bin/sleep",
    args: ["1000"],
    cwd: "/",
    instances: 2,
  });
  await using connected = await onStdio(daemon.home);
  const { client } = connected;
  assertStringIncludes(await refusal(client, "list_apps", { colour: 1 }), "colour");
  assertStringIncludes(await refusal(client, "get_status"), "target");
  assertStringIncludes(await refusal(client, "get_status", { target: 5 }), "target");
  assertStringIncludes(await refusal(client, "get_logs", { target: "pair:0", lines: 0 }), "lines");
  assertStringIncludes(
    await refusal(client, "stop_app", { target: "pair", timeout: "soon" }),
    "soon",
  );
  assertStringIncludes(await refusal(client, "get_status", { target: "par" }), "pair");
  assertMatch(await refusal(client, "get_status", { target: "pair" }), /ambiguous.*pair:0.*pair:1/);
  assertMatch(await refusal(client, "get_logs", { target: "pair" }), /ambiguous/);
  assertStringIncludes(
    await refusal(client, "start_app", { entrypoint: "/no/such/thing" }),
    "/no/such",
  );
  assertMatch(
    await refusal(client, "start_app", { entrypoint: "/bin/sleep", name: "pair" }),
    /name_taken[^]*restart_app with target "pair"/,
  );
  assertStringIncludes(
    await refusal(client, "get_status", { target: "nothing" }),
    "list_apps shows what there is",
  );
  const unknown = await client.callTool({ name: "no_such_tool", arguments: {} })
    .then(() => "worked", String);
  assertStringIncludes(unknown, "no_such_tool");
  assertEquals((await use(client, "list_apps")).processes.length, 2);
});

Deno.test("list_apps gives what a target names, without the defaults of its configuration", async () => {
  await using daemon = await TestDaemon.start();
  const sleep = { entrypoint: "/bin/sleep", args: ["1000"], cwd: "/" };
  await daemon.client.call("start", { ...sleep, name: "api", instances: 2, namespace: "prod" });
  await daemon.client.call("start", {
    ...sleep,
    name: "api-old",
    tags: ["old"],
    env: { KEY: "x" },
  });
  await using connected = await onHttp(daemon);
  const { client } = connected;
  const named = async (args: Record<string, unknown>) => {
    const { processes } = await use(client, "list_apps", args);
    return processes.map(({ name }: { name: string }) => name);
  };
  assertEquals(await named({}), ["api:0", "api:1", "api-old"]);
  assertEquals(await named({ target: "api" }), ["api:0", "api:1"]);
  assertEquals(await named({ target: "ns:prod" }), ["api:0", "api:1"]);
  assertEquals(await named({ target: "tag:old" }), ["api-old"]);
  assertStringIncludes(await refusal(client, "list_apps", { target: "apo-old" }), "api-old");
  const { processes: [{ config }] } = await use(client, "list_apps", { target: "api-old" });
  assertEquals(config, { ...sleep, name: "api-old", tags: ["old"], env: { KEY: "***" } });
  const { process } = await use(client, "get_status", { target: "api-old" });
  assertEquals(process.config.restart_policy, "on-failure");
});

Deno.test("a tool that takes long tells its progress, over every transport", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("slow", "exec sleep 1000", { min_uptime: "1500ms", instances: 4 });
  await Promise.all(WAYS.map(async ({ name, connect }, at) => {
    await using connected = await connect(daemon);
    const told: unknown[] = [];
    const patience = { onprogress: (progress: unknown) => told.push(progress) };
    const call = { name: "restart_app", arguments: { target: `slow:${at}` } };
    const result = await connected.client.callTool(call, patience);
    assert(!result.isError, name);
    assertEquals(told[0], { progress: 1, message: "Restart app: 1 s so far" }, name);
  }));
});

Deno.test("start_app fails with the last words when the app does not stay up", async () => {
  await using daemon = await TestDaemon.start();
  await using connected = await onHttp(daemon);
  const failed = await connected.client.callTool({
    name: "start_app",
    arguments: {
      name: "dies",
      entrypoint: "/bin/sh",
      args: ["-c", "echo 'no config' >&2; head -c 5000 /dev/zero | tr '\\0' a >&2; exit 3"],
      restart_policy: "never",
    },
  });
  assert(failed.isError);
  // deno-lint-ignore no-explicit-any
  const { results, notice } = failed.structuredContent as any;
  assertEquals([results[0].ok, results[0].last_output], [
    false,
    ["no config", `${"a".repeat(1000)}…`],
  ]);
  assertStringIncludes(notice, "untrusted");
});

Deno.test("get_logs gives plain text within its limit when the log is hostile and large", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("hostile", "exec sleep 1000");
  const log = `${daemon.home}/apps/hostile/stdout.log`;
  // Fills more than the limit with what grows most when it is quoted twice.
  await Deno.writeTextFile(log, `${'"\\'.repeat(50)}\n`.repeat(20_000));
  const evil = [
    "\x1b]0;title\x07a\x1b[31mred\x1b[0m",
    "\x1b]never ended, this line is lost",
    "\u202eforgery\u2066 \u{e0041}\u{e0042}hi\u200bd\ufeffd\u2060en\u{e0101}\u2028",
    "\x9b2J\x00\x7fend 漢字 😀",
  ];
  await Deno.writeTextFile(log, `${evil.join("\n")}\n`, { append: true });
  for (const connect of [() => onStdio(daemon.home), () => onHttp(daemon)]) {
    await using connected = await connect();
    const { client } = connected;
    const { logs } = await use(client, "get_logs", { target: "hostile", lines: 4 });
    assertEquals(logs, "ared\n\nforgery hidden\nend 漢字 😀\n");
    const all = await client.readResource({ uri: "logs://hostile" });
    const [content] = all.contents;
    const text = content && "text" in content ? content.text : "";
    assert(text.endsWith(logs));
    assert(new TextEncoder().encode(text).length <= 1024 * 1024);
    const most = await use(client, "get_logs", { target: "hostile", lines: 10_000 });
    assert(most.logs.length <= 1024 * 1024);
  }
});

Deno.test("get_logs reads the end of a log of 1 GB, be it one line", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("huge", "exec sleep 1000", { log: { max_size: "8GB" } });
  // A file with a hole: its bytes are read, but stand nowhere.
  using log = await Deno.open(`${daemon.home}/apps/huge/stdout.log`, { write: true });
  await log.truncate(1024 ** 3);
  await log.seek(0, Deno.SeekMode.End);
  await log.write(new TextEncoder().encode("\nlast words\n"));
  await using connected = await onStdio(daemon.home);
  const { client } = connected;
  const { logs } = await use(client, "get_logs", { target: "huge", lines: 1 });
  assertEquals(logs, "last words\n");
  const { contents: [content] } = await client.readResource({ uri: "logs://huge" });
  const text = content !== undefined && "text" in content ? content.text : "";
  assert(text.endsWith("last words\n") && text.length <= 1024 * 1024);
  const [, rssKb] = /VmRSS:\s+(\d+) kB/.exec(
    await Deno.readTextFile(`/proc/${daemon.pid}/status`),
  )!;
  assert(Number(rssKb) < 400_000, `the daemon has ${rssKb} kB`);
});

Deno.test("--read-only and --allow leave only the tools that they name", async () => {
  await using daemon = await TestDaemon.start();
  const names = async (args: string[]) => {
    await using connected = await onStdio(daemon.home, { args });
    return (await connected.client.listTools()).tools.map(({ name }) => name);
  };
  assertEquals(await names(["--read-only"]), ["list_apps", "get_status", "get_logs"]);
  assertEquals(await names(["--allow", "get_status,stop_app"]), ["get_status", "stop_app"]);
  assertEquals(await names(["--read-only", "--allow", "get_status,stop_app"]), ["get_status"]);
  for (
    const [args, words] of [
      [["--allow", "get_stats"], 'did you mean "get_status"?'],
      [["--allow", ", "], 'Invalid list of tools ", "'],
      [["install", "claude", "--print", "--allow", ","], 'Invalid list of tools ","'],
      [["--read-only", "--allow", "stop_app"], '"--read-only" leaves none'],
    ] as const
  ) {
    const wrong = await daemon.cli("mcp", ...args);
    assertEquals([wrong.code, wrong.stdout], [2, ""]);
    assertStringIncludes(wrong.stderr, words);
  }

  await using reading = await onHttp(daemon, { serving: { role: "read" } });
  assertStringIncludes(
    await reading.client.callTool({ name: "stop_app", arguments: { target: "all" } })
      .then(() => "worked", String),
    "stop_app",
  );
});
