import { fromFileUrl } from "@std/path";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { TOOL_NAMES } from "../../src/mcp/tool_names.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { onHttp, onStdio, refusal, type TestClient, use, WAYS } from "./clients.ts";

const SERVER = fromFileUrl(import.meta.resolve("../fixtures/waits_for_term.sh"));
const QUICK = { min_uptime: "10ms" };
const SLEEP = { entrypoint: "/bin/sleep", args: ["1000"], cwd: "/", ...QUICK };

Deno.test("every tool of the core set works on the live daemon, over every transport", async () => {
  await using daemon = await TestDaemon.start();
  for (const { name, connect } of WAYS) {
    await using connected = await connect(daemon);
    const { client } = connected;
    // From here on the client checks each answer against the schema of its tool.
    await client.listTools();

    assertEquals(await use(client, "list_apps"), { processes: [] }, name);
    const app = { entrypoint: SERVER, env: { SECRET: "x" }, config: QUICK };
    const started = await use(client, "start_app", app);
    assertEquals([started.status, started.results[0].ok], ["started", true]);
    const { process } = started;
    assertEquals([process.name, process.state], ["waits_for_term", "running"]);
    assertEquals([process.config.env, process.config.min_uptime], [{ SECRET: "***" }, "10ms"]);
    assert(isAlive(process.pid));

    const { processes: [status] } = await use(client, "get_status", { target: "waits_for_term" });
    assertEquals([status.pid, status.config.restart_policy], [process.pid, "on-failure"]);
    assertStringIncludes(status.reasons[0], "is running");
    const restarted = await use(client, "restart_app", { target: "waits_for_term" });
    assertEquals([restarted.status, restarted.results[0].state], ["restarted", "running"]);
    assert(!isAlive(process.pid));
    const reloaded = await use(client, "reload_app", { target: process.id });
    assertEquals(reloaded.status, "reloaded");

    assertEquals(await use(client, "save_state"), { status: "saved", count: 1 });
    const stopped = await use(client, "stop_app", { target: "all", timeout: "2s" });
    assertEquals([stopped.status, stopped.results[0].state], ["stopped", "stopped"]);
    assertEquals((await use(client, "delete_app", { target: "all" })).status, "deleted");
    assertEquals(await use(client, "resurrect_processes"), {
      status: "resurrected",
      count: 1,
      errors: [],
    });
    assertEquals((await use(client, "list_apps")).processes[0].state, "running");
    await use(client, "delete_app", { target: "all" });
  }
});

Deno.test("tools of one daemon", async (t) => {
  await using daemon = await TestDaemon.start();
  await using stdio = await onStdio(daemon.home);
  await using http = await onHttp(daemon);
  await Promise.all([stdio.client.listTools(), http.client.listTools()]);

  await t.step("their definitions contain schemas and effects, in few words", async () => {
    const { tools } = await http.client.listTools();
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
    const core = await stdio.client.listTools();
    assertEquals(core.tools.map(({ name }) => name), TOOL_NAMES.slice(0, 10));
    const size = JSON.stringify(core.tools).length;
    assert(size < 2500 * 3.6, `${size} characters`);
  });

  await t.step("prompts name only tools that the client has", async () => {
    const texts = async ({ client }: TestClient) => {
      const { prompts } = await client.listPrompts();
      const { tools } = await client.listTools();
      const missing = TOOL_NAMES.filter((tool) => !tools.some(({ name }) => name === tool));
      const found = new Map<string, string>();
      for (const { name, arguments: words = [] } of prompts) {
        const given = Object.fromEntries(words.map(({ name }) => [name, "x y"]));
        const text = JSON.stringify(await client.getPrompt({ name, arguments: given }));
        assertStringIncludes(text, "x y");
        assertEquals(missing.filter((tool) => text.includes(tool)), [], name);
        found.set(name, text);
      }
      return found;
    };
    const all = await texts(http);
    assertEquals([...all.keys()], ["diagnose", "deploy", "review-config"]);
    assertStringIncludes(all.get("diagnose")!, "get_events");
    assertEquals([...(await texts(stdio)).keys()], ["diagnose", "review-config"]);
  });

  await t.step(
    "get_logs returns the requested lines, of one app and of several",
    async () => {
      const { client } = stdio;
      const ready = 'echo READY=1 >"$PROCSUP_READY_FILE"';
      const script = `seq 1 200; echo oops >&2; ${ready}; exec sleep 1000`;
      await daemon.startScript("talker", script, { wait_ready: true, instances: 2 });
      await daemon.client.call("wait", { target: "talker", for: "ready" });
      const target = "talker:0";
      const last = await use(client, "get_logs", { target, lines: 2 });
      assertEquals([last.logs, last.lines, last.stream], ["199\n200\n", "2", "stdout"]);
      assertStringIncludes(last.notice, "untrusted");
      assertEquals((await use(client, "get_logs", { target })).logs.split("\n").length, 51);
      const stderr = await use(client, "get_logs", { target, stderr: true });
      assertEquals([stderr.logs, stderr.stream], ["oops\n", "stderr"]);
      const found = await use(client, "get_logs", { target, grep: "^19.$" });
      assertEquals(found.logs.length, 40);
      const since = await use(client, "get_logs", { target, since: "1h", lines: 1 });
      assertEquals(since.logs, "200\n");
      assertStringIncludes(await refusal(client, "get_logs", { target, grep: "(" }), "grep");
      const both = await use(client, "get_logs", { target: "talker", lines: 1 });
      assertMatch(both.logs, /^==> \S+ <==\n200\n\n==> \S+ <==\n200\n$/);
      await use(client, "delete_app", { target: "talker" });
    },
  );

  await t.step("they reject invalid input with a result that names it", async () => {
    const { client } = stdio;
    await daemon.client.call("start", { ...SLEEP, name: "pair", instances: 2 });
    assertStringIncludes(await refusal(client, "list_apps", { colour: 1 }), "colour");
    assertStringIncludes(await refusal(client, "get_status"), "target");
    assertStringIncludes(await refusal(client, "get_status", { target: 5 }), "target");
    assertStringIncludes(
      await refusal(client, "get_logs", { target: "pair:0", lines: 0 }),
      "lines",
    );
    assertStringIncludes(
      await refusal(client, "stop_app", { target: "pair", timeout: "soon" }),
      "soon",
    );
    assertStringIncludes(await refusal(client, "get_status", { target: "par" }), "pair");
    assertStringIncludes(
      await refusal(client, "start_app", { entrypoint: "/no/such/thing" }),
      "/no/such",
    );
    const keys = { entrypoint: "/bin/sleep", config: { crom: "@daily" } };
    assertMatch(await refusal(client, "start_app", keys), /crom[^]*"cron"/);
    const twice = { entrypoint: "/bin/sleep", name: "one", config: { name: "two" } };
    assertMatch(await refusal(client, "start_app", twice), /^"name" is given twice/);
    const planned = await refusal(http.client, "apply_config", { plan: true });
    assertMatch(planned, /Hint: Name a file: apply_config with file "procsup.yaml"$/);
    const unscheduled = await refusal(http.client, "run_job", { target: "pair:0" });
    assertMatch(unscheduled, /Hint: The key cron or cron_restart gives a schedule$/);
    assertMatch(
      await refusal(client, "start_app", { entrypoint: "/bin/sleep", name: "pair" }),
      /name_taken[^]*restart_app with target "pair"/,
    );
    assertStringIncludes(
      await refusal(client, "get_status", { target: "nothing" }),
      "see all processes: list_apps",
    );
    const unknown = await client.callTool({ name: "no_such_tool", arguments: {} })
      .then(() => "worked", String);
    assertStringIncludes(unknown, "no_such_tool");
    assertEquals((await use(client, "list_apps")).processes.length, 2);
    await use(client, "delete_app", { target: "all" });
  });

  await t.step(
    "list_apps and get_status accept any target, and return the required fields",
    async () => {
      const { client } = http;
      await daemon.client.call("start", { ...SLEEP, name: "api", instances: 2, namespace: "prod" });
      const old = { ...SLEEP, name: "api-old", tags: ["old"], env: { KEY: "x" } };
      await daemon.client.call("start", old);
      for (const tool of ["list_apps", "get_status"]) {
        const named = async (args: Record<string, unknown>) => {
          const { processes } = await use(client, tool, args);
          return processes.map(({ name }: { name: string }) => name);
        };
        assertEquals(await named({ target: "all" }), ["api:0", "api:1", "api-old"]);
        assertEquals(await named({ target: "api" }), ["api:0", "api:1"]);
        assertEquals(await named({ target: "ns:prod" }), ["api:0", "api:1"]);
        assertEquals(await named({ target: "tag:old" }), ["api-old"]);
        assertStringIncludes(await refusal(client, tool, { target: "apo-old" }), "api-old");
      }
      const { processes: [brief] } = await use(client, "list_apps", { target: "api-old" });
      const shown = ["name", "state", "pid", "cpu_percent", "memory_bytes", "up"];
      assertEquals(Object.keys(brief), shown);
      const detail = { target: "api-old", detail: true };
      const { processes: [{ config }] } = await use(client, "list_apps", detail);
      assertEquals(config, { ...old, env: { KEY: "***" } });
      await use(client, "delete_app", { target: "all" });
    },
  );

  await t.step("start_app fails with the last output when the app does not stay up", async () => {
    const failed = await http.client.callTool({
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
    const lines = ["no config", `${"a".repeat(1000)}…`];
    assertEquals([results[0].ok, results[0].last_output], [false, lines]);
    assertStringIncludes(notice, "untrusted");
    const events = await use(http.client, "get_events", { target: "dies" });
    assertStringIncludes(events.notice, "untrusted");
    assertStringIncludes((await use(http.client, "list_apps")).notice, "untrusted");
    const { processes: [why] } = await use(http.client, "get_status", { target: "dies" });
    assertEquals([why.state, why.last_output], ["crashed", lines]);
    assertEquals(why.hints.at(-1), 'restart_app with target "dies"');
    await use(http.client, "delete_app", { target: "dies" });
  });

  await t.step("search_logs finds lines of several apps, and groups similar ones", async () => {
    const { client } = http;
    const script = (name: string) =>
      `for i in 1 2 3; do echo "ERROR took $i ms"; done; echo "ERROR ${name}" >&2; echo fine; sleep 1000`;
    const ready = { ...QUICK, wait_ready: true, ready_log: "fine" };
    for (const name of ["one", "two"]) await daemon.startScript(name, script(name), ready);
    await daemon.client.call("wait", { target: "all", for: "ready" });
    const errors = await use(client, "search_logs", {
      since: "1h",
      level: "error",
      targets: "two",
    });
    assertEquals(errors.lines.length, 4);
    assertEquals([errors.truncated, errors.patterns], [false, undefined]);
    const some = await use(client, "search_logs", { grep: "TOOK", ignore_case: true, limit: 2 });
    assertEquals([some.lines.length, some.truncated], [2, true]);
    const grouped = await use(client, "search_logs", {
      ...{ targets: ["two", "one"], level: "error", group_similar: true },
    });
    const counts = grouped.patterns.map(({ apps, count, line }: Record<string, unknown>) =>
      `${(apps as string[]).toSorted()} ${count} ${line}`
    );
    assertEquals(counts[0], "one,two 6 ERROR took 3 ms");
    assertEquals(counts.slice(1).sort(), ["one 1 ERROR one", "two 1 ERROR two"]);
    assertStringIncludes(await refusal(client, "search_logs", { limit: 0 }), "1 to 1000");
    assertStringIncludes(await refusal(client, "search_logs", { targets: "on" }), "one");
    // Each is looked up among all processes: a client with many of them kept the daemon from
    // answering.
    const many = Array.from({ length: 1001 }, () => "all");
    assertStringIncludes(await refusal(client, "search_logs", { targets: many }), "targets");
    await use(client, "delete_app", { target: "all" });
  });

  await t.step("get_events returns past events, even of deleted apps", async () => {
    const { client } = http;
    const { events } = await use(client, "get_events", { target: "one", since: "1h" });
    const types = events.map(({ type }: { type: string }) => type);
    assertEquals([types[0], types.at(-1)], ["added", "deleted"]);
    const last = await use(client, "get_events", { target: "one", limit: 1 });
    assertEquals([last.events.length, last.truncated], [1, true]);
    // Only the end of a run has its exit.
    const ends = events.filter(({ type }: { type: string }) => type === "stopped");
    assertEquals(ends.map(({ signal }: { signal: string }) => signal).includes("SIGTERM"), true);
    assertEquals(last.events[0].code, undefined);
  });

  await t.step(
    "an app is updated, scaled and rolled; a job is run; a configuration is applied",
    async () => {
      const { client } = http;
      await use(client, "start_app", { entrypoint: "/bin/sleep", args: ["1000"], config: QUICK });
      const env = { target: "sleep", config: { env: { LEVEL: "debug" } } };
      const updated = await use(client, "update_app", env);
      assertEquals([updated.status, updated.restarted], ["reloaded", true]);
      assertEquals((await use(client, "update_app", env)).status, "unchanged");
      assertStringIncludes(
        await refusal(client, "update_app", { target: "sleep", config: { env: { A: "***" } } }),
        "***",
      );
      assertEquals(
        (await use(client, "scale_app", { target: "sleep", instances: "+1" })).status,
        "scaled",
      );
      const rolled = await use(client, "reload_app", { target: "sleep", batch_size: 2 });
      assertEquals([rolled.status, rolled.results.length], ["reloaded", 2]);

      const job = {
        name: "job",
        entrypoint: "/bin/true",
        config: { cron: { schedule: "@yearly" } },
      };
      await use(client, "start_app", job);
      assertEquals((await use(client, "run_job", { target: "job" })).status, "running");
      await use(client, "wait_for", { target: "job", for: "exit" });
      const { jobs } = await use(client, "list_jobs", { target: "job" });
      assertEquals([jobs[0].last_status, jobs[0].history.length], ["ok", 1]);
      assertEquals((await use(client, "list_jobs")).jobs[0].history, []);

      const file = `${daemon.home}/procsup.yaml`;
      const content =
        'processes: { other: { entrypoint: /bin/sleep, args: ["9"], min_uptime: 10ms } }';
      const planned = await use(client, "apply_config", { file, content, plan: true });
      assertEquals([planned.status, planned.added], ["planned", ["other"]]);
      const applied = await use(client, "apply_config", { file, content, plan: false });
      assertEquals([applied.status, applied.results[0].state], ["reloaded", "running"]);
      assertStringIncludes(await refusal(client, "apply_config", { file }), "plan");
      await use(client, "delete_app", { target: "all" });
    },
  );

  await t.step(
    "get_logs returns plain text within its limit when the log is hostile and large",
    async () => {
      await daemon.startScript("hostile", "exec sleep 1000");
      const log = `${daemon.home}/apps/hostile/stdout.log`;
      // Exceeds the limit with text that grows most when it is quoted twice.
      await Deno.writeTextFile(log, `${'"\\'.repeat(50)}\n`.repeat(20_000));
      const evil = [
        "\x1b]0;title\x07a\x1b[31mred\x1b[0m",
        "\x1b]never ended, this line is lost",
        "\u202eforgery\u2066 \u{e0041}\u{e0042}hi\u200bd\ufeffd\u2060en\u{e0101}\u2028",
        "\x9b2J\x00\x7fend 漢字 😀",
      ];
      await Deno.writeTextFile(log, `${evil.join("\n")}\n`, { append: true });
      for (const { client } of [stdio, http]) {
        const { logs } = await use(client, "get_logs", { target: "hostile", lines: 4 });
        assertEquals(logs, "ared\n\nforgery hidden\nend 漢字 😀\n");
        const all = await client.readResource({ uri: "logs://hostile" });
        const [content] = all.contents;
        const text = content && "text" in content ? content.text : "";
        assert(text.endsWith(logs));
        assert(new TextEncoder().encode(text).length <= 1024 * 1024);
      }
      const most = await use(http.client, "get_logs", { target: "hostile", lines: 10_000 });
      assert(most.logs.length <= 1024 * 1024);
      const { lines } = await use(http.client, "search_logs", {
        grep: "forgery",
        targets: "hostile",
      });
      assertEquals(lines.map(({ line }: { line: string }) => line), ["forgery hidden"]);
    },
  );

  await t.step("get_logs reads the end of a log of 1 GB, even if it is one line", async () => {
    const { client } = stdio;
    await daemon.startScript("huge", "exec sleep 1000", { log: { max_size: "8GB" } });
    // A sparse file: its bytes are read, but not stored.
    using log = await Deno.open(`${daemon.home}/apps/huge/stdout.log`, { write: true });
    await log.truncate(1024 ** 3);
    await log.seek(0, Deno.SeekMode.End);
    await log.write(new TextEncoder().encode("\nlast words\n"));
    const { logs } = await use(client, "get_logs", { target: "huge", lines: 1 });
    assertEquals(logs, "last words\n");
    const { contents: [content] } = await client.readResource({ uri: "logs://huge" });
    const text = content !== undefined && "text" in content ? content.text : "";
    assert(text.endsWith("last words\n") && text.length <= 1024 * 1024);
    const [, rssKb] = /VmRSS:\s+(\d+) kB/.exec(
      await Deno.readTextFile(`/proc/${daemon.pid}/status`),
    )!;
    assert(Number(rssKb) < 400_000, `the daemon has ${rssKb} kB`);
    await use(client, "delete_app", { target: "huge" });
  });

  await t.step(
    "--toolsets, --read-only and --allow leave only the tools that they select",
    async () => {
      const names = async (args: string[]) => {
        await using connected = await onStdio(daemon.home, { args });
        return (await connected.client.listTools()).tools.map(({ name }) => name);
      };
      const reads = ["list_apps", "get_status", "get_logs"];
      const tries = [
        [["--read-only"], reads],
        [["--read-only", "--toolsets", "core,jobs"], [...reads, "wait_for", "list_jobs"]],
        [["--read-only", "--allow", "get_status,stop_app"], ["get_status"]],
      ] as const;
      await Promise.all(tries.map(async ([args, wanted]) => {
        assertEquals(await names([...args]), [...wanted]);
      }));
      const refusals = [
        [["--allow", "get_stats"], 'did you mean "get_status"?'],
        [["--toolsets", "job"], 'Unknown toolset "job": did you mean "jobs"?'],
        [["install", "claude", "--print", "--allow", ","], 'Invalid list of tools ","'],
        [["--read-only", "--allow", "stop_app"], '"--read-only" and "--allow" leave no tool'],
      ] as const;
      await Promise.all(refusals.map(async ([args, words]) => {
        const wrong = await daemon.cli("mcp", ...args);
        assertEquals([wrong.code, wrong.stdout], [2, ""]);
        assertStringIncludes(wrong.stderr, words);
      }));
    },
  );
});

Deno.test("a slow tool reports progress, over every transport", async () => {
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
