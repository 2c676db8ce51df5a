import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ERROR_TABLE, type ErrorCode, ProcsupError } from "../../src/model/errors.ts";
import { exitCodeOf } from "../../src/cli/report_error.ts";
import { AmbiguousTargetError } from "../../src/model/target.ts";
import { recordPath } from "../../src/platform/daemon_record.ts";
import { takeLock } from "../../src/platform/files/lock.ts";
import { prepareHome } from "../../src/platform/files/paths.ts";
import { sealed } from "../../src/platform/files/state_file.ts";
import type { ErrorJson } from "../../src/protocol/envelope.ts";
import type { StartPayload } from "../../src/protocol/wire.ts";
import { FakeDaemon, fakeProcess, runCommandLine } from "./fake_daemon.ts";

const ERRORED = fakeProcess({
  id: "2b3a9c00",
  numeric_id: 1,
  name: "mail",
  state: "errored",
  pid: 0,
  last_exit: { code: 1, signal: null, at: "2026-01-02T03:04:05.000Z" },
});

Deno.test("procsup list prints a table, JSON, NDJSON, YAML and names", async () => {
  await using daemon = new FakeDaemon({ list: () => [fakeProcess(), ERRORED] });
  const [table, wide, json, jsonl, names] = await Promise.all([
    daemon.run("list"),
    daemon.run("ls", "-o", "wide"),
    daemon.run("jlist"),
    daemon.run("list", "-o", "jsonl"),
    daemon.run("list", "-o", "name"),
  ]);
  assertEquals(table.stdout.split("\n"), [
    "ID  NAME  STATE     PID  UPTIME  RESTARTS   CPU    MEM  NS",
    " 0  api   running  4121   2h13m         2  1.2%  48 MB  default",
    " 1  mail  errored     -       -         2     -      -  default",
    "",
  ]);
  assertEquals([table.code, table.stderr], [0, ""]);
  assertStringIncludes(wide.stdout, "REASON");
  assertEquals(JSON.parse(json.stdout), [fakeProcess(), ERRORED]);
  assertEquals(jsonl.stdout.trim().split("\n").map((line) => JSON.parse(line).name), [
    "api",
    "mail",
  ]);
  assertEquals(names.stdout, "api\nmail\n");
});

Deno.test("procsup list has columns for health and ports when an app has them", async () => {
  const config = { health_check: { type: "tcp" } };
  const at = (port: number, address: string) => ({ port, address });
  await using daemon = new FakeDaemon({
    list: () => [fakeProcess({ config, health: "unhealthy" }), ERRORED],
    ports: () => [{
      name: "api",
      id: fakeProcess().id,
      ports: [at(80, "::"), at(80, "0.0.0.0"), at(443, "::")],
    }],
  });
  const table = await daemon.run("list");
  assertEquals(table.stdout.split("\n"), [
    "ID  NAME  STATE    HEALTH      PID  UPTIME  RESTARTS   CPU    MEM  NS       PORTS",
    " 0  api   running  unhealthy  4121   2h13m         2  1.2%  48 MB  default  80 443",
    " 1  mail  errored  -             -       -         2     -      -  default  -",
    "",
  ]);
});

Deno.test("procsup list without processes prints [] for programs and a hint for people", async () => {
  await using daemon = new FakeDaemon({ list: () => [] });
  const [json, table] = await Promise.all([daemon.run("list", "--json"), daemon.run("list")]);
  assertEquals([json.stdout, json.stderr], ["[]\n", ""]);
  assertEquals(table.stdout, "");
  assertStringIncludes(table.stderr, "procsup start");
});

Deno.test("procsup exits with the code of the failure", async () => {
  await using daemon = new FakeDaemon({
    stop: () => {
      throw new ProcsupError("process_not_found", "process not found", {
        hint: "Did you mean mail?",
      });
    },
    scale: () => {
      throw new ProcsupError("ambiguous_target", 'Target "a" is ambiguous');
    },
  });
  const [missing, ambiguous, unknownFlag, unknownCommand] = await Promise.all([
    daemon.run("stop", "mial"),
    daemon.run("scale", "a", "2"),
    daemon.run("list", "--jsno"),
    daemon.run("lsit"),
  ]);
  assertEquals(missing, {
    code: 4,
    stdout: "",
    stderr: "error: Process not found\n  hint: Did you mean mail?\n  more: procsup help targets\n",
  });
  assertEquals(ambiguous.code, 6);
  assertEquals(unknownFlag.code, 2);
  assertEquals(unknownCommand.code, 2);
  assertEquals(daemon.requests.length, 2);
});

Deno.test("procsup exits with the highest code of all failed processes", async () => {
  const failed = (code: string) => ({ name: code, id: "1", ok: false, error: "no", code });
  await using daemon = new FakeDaemon({
    signal: (payload) => ({
      status: "failed",
      results: (payload as { target: string }).target.split("-").map(failed),
    }),
  });
  const ended = await Promise.all(
    ["wrong_state", "wrong_state-timeout", "of_a_later_version"]
      .map((target) => daemon.run("signal", "HUP", target)),
  );
  assertEquals(ended.map(({ code }) => code), [6, 124, 1]);
});

Deno.test("each error has its exit code, whether thrown or reported for one process", async () => {
  await using daemon = new FakeDaemon({
    stop: (payload) => {
      const { target: code } = payload as { target: ErrorCode };
      throw new ProcsupError(code, "no");
    },
    flush: (payload) => {
      const { target: code } = payload as { target: ErrorCode };
      return {
        status: "failed",
        results: [{ name: "api", id: "1", ok: false, error: "no", code }],
      };
    },
  });
  const all = Object.entries(ERROR_TABLE).map(([code, { exit }]) => [code, exit] as const);
  assertEquals(all.map(([code]) => exitCodeOf(code)), all.map(([, exit]) => exit));
  for (const [exit, code] of new Map(all.map(([code, exit]) => [exit, code]))) {
    const ended = await Promise.all(["stop", "flush"].map((verb) => daemon.run(verb, code)));
    assertEquals(ended.map(({ code }) => code), [exit, exit], code);
  }
});

Deno.test("a rejected command line is answered in the requested format", async () => {
  const refused = await Promise.all([
    ...[["list", "--jsno", "--json"], ["lsit", "-o", "json"], ["--output=json", "stop"]],
    ...[["list", "-ojson", "-n", "x"], ["start", "--bad", "--", "--json"], ["lsit"]],
  ].map((words) => runCommandLine(words)));
  for (const { code, stdout, stderr } of refused) {
    assertEquals(code, 2);
    assert(stderr.startsWith("error: "), stderr);
    if (stdout !== "") assertEquals(JSON.parse(stdout).code, "bad_request");
  }
  assertEquals(refused.map(({ stdout }) => stdout !== ""), [true, true, true, true, false, false]);
});

Deno.test("procsup exits with 5 when no daemon answers, and starts none", async () => {
  const home = await Deno.makeTempDir({ prefix: "procsup_cli_" });
  try {
    const [list, start, bare] = await Promise.all([
      runCommandLine(["list"], { PROCSUP_HOME: home }),
      runCommandLine(["start", "--", "sleep", "1"], { PROCSUP_HOME: home }),
      runCommandLine([], { PROCSUP_HOME: home }),
    ]);
    assertEquals([list.code, list.stdout], [5, ""]);
    assertStringIncludes(
      list.stderr,
      "hint: Start an app, or a daemon without apps: procsup daemon --detach",
    );
    assertEquals(start.code, 5);
    assertEquals(bare.code, 0);
    assertStringIncludes(bare.stdout, "daemon not running");
    assertEquals(await Array.fromAsync(Deno.readDir(home)), []);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("procsup start sends the configuration and prints each process", async () => {
  const ok = { name: "api", id: "1f3a9c00", ok: true, state: "running", pid: 4121 };
  const failed = {
    name: "mail",
    id: "2b3a9c00",
    ok: false,
    error: "exited with code 1",
    last_output: ["Boom"],
  };
  await using daemon = new FakeDaemon({
    start: () => ({ ...fakeProcess(), results: [ok, failed] }),
  });
  const result = await daemon.run("start", "--name", "api", "--", "sleep", "5");
  assertEquals(result.code, 1);
  assertEquals(result.stdout, "✔ api  running  pid 4121\n");
  assertEquals(result.stderr, "✘ mail  exited with code 1\n    Boom\n  hint: procsup why mail\n");
  const [{ action, payload }] = daemon.requests as [{ action: string; payload: StartPayload }];
  const { shell_env, ...rest } = payload as StartPayload & { shell_env: Record<string, string> };
  assertEquals([action, rest], [
    "start",
    { name: "api", entrypoint: "sleep", cwd: Deno.cwd(), args: ["5"], wait: true },
  ]);
  // The shell's environment, without variables that identify the daemon.
  assertEquals([shell_env.PATH, shell_env.PROCSUP_HOME], [Deno.env.get("PATH"), undefined]);
});

Deno.test("procsup start suggests the next command", async () => {
  await using daemon = new FakeDaemon({
    start: (payload) => {
      if ("target" in (payload as object)) {
        throw new ProcsupError("process_not_found", "process not found");
      }
      throw new ProcsupError("name_taken", 'Name "sleep" is taken');
    },
  });
  const [onPath, taken] = await Promise.all([
    daemon.run("start", "sleep"),
    daemon.run("start", "--no-wait", "--", "sleep", "1"),
  ]);
  assertEquals(onPath.code, 4);
  assertStringIncludes(onPath.stderr, "procsup start -- sleep");
  assertEquals(taken.code, 6);
  assertStringIncludes(taken.stderr, "procsup restart sleep");
});

Deno.test("apps in place of files: the hint is the command with --only", async () => {
  await using daemon = new FakeDaemon({});
  const folder = Deno.makeTempDirSync({ dir: daemon.home });
  const run = (...words: string[]) =>
    runCommandLine([...words, "--json"], { PROCSUP_HOME: daemon.home }, folder);
  const hintOf = async (...words: string[]) => {
    const { code, stdout } = await run(...words);
    const { hint, code: name } = JSON.parse(stdout);
    assertEquals([code, name], [2, "bad_request"]);
    return hint.command;
  };
  const without = await run("up", "api");
  assertEquals([without.code, without.stderr.split("\n")[0]], [2, "error: api: no such file"]);
  Deno.writeTextFileSync(`${folder}/procsup.yaml`, "processes: {}\n");
  // A folder of that name changes nothing.
  Deno.mkdirSync(`${folder}/web`);
  assertEquals(await hintOf("up", "api"), { verb: "up", flags: { only: "api" } });
  assertEquals(await hintOf("up", "--dry-run", "--profile", "prod", "--only", "x", "api", "web"), {
    verb: "up",
    flags: { "dry-run": true, profile: "prod", only: "x,api,web" },
  });
  assertEquals(await hintOf("down", "procsup.yaml", "ns:shop"), {
    verb: "down",
    args: ["procsup.yaml"],
    flags: { only: "ns:shop" },
  });
  assertEquals(await hintOf("config", "validate", "api"), {
    verb: "config validate",
    flags: { only: "api" },
  });
  const missing = await run("up", "api.yaml");
  assertEquals([missing.code, missing.stderr.split("\n")[0]], [2, "error: api.yaml: no such file"]);
});

Deno.test("procsup start prints for programs all that an error holds", async () => {
  await using daemon = new FakeDaemon({
    start: (payload) => {
      const { target } = payload as { target: string };
      if (target === "ap") throw new AmbiguousTargetError("Ambiguous", ["api", "app"]);
      throw new ProcsupError("process_not_found", "process not found", { near: "mail" });
    },
  });
  const errors = await Promise.all(["ap", "mial"].map(async (target) => {
    const { stdout } = await daemon.run("start", target, "--json");
    return JSON.parse(stdout) as ErrorJson;
  }));
  assertEquals(errors.map(({ matches, near }) => [matches, near]), [
    [["api", "app"], undefined],
    [undefined, "mail"],
  ]);
});

Deno.test("procsup stop sends one request per target and exits with the worst code", async () => {
  await using daemon = new FakeDaemon({
    stop: (payload) => {
      const { target } = payload as { target: string };
      if (target === "none") throw new ProcsupError("process_not_found", "process not found");
      return { status: "stopped", results: [{ name: target, id: "1", ok: true }] };
    },
  });
  const result = await daemon.run("stop", "a", "none", "b", "--timeout", "1s");
  assertEquals(result.code, 4);
  assertEquals(result.stdout, "✔ a  stopped\n✔ b  stopped\n");
  assertEquals(daemon.requests[0]?.payload, { target: "a", force: false, timeout: "1s" });
});

Deno.test("procsup status exits with 0 only when the process runs", async () => {
  await using daemon = new FakeDaemon({
    status: (payload) => (payload as { target: string }).target === "api" ? fakeProcess() : ERRORED,
  });
  const [up, down, quiet] = await Promise.all([
    daemon.run("status", "api"),
    daemon.run("status", "mail", "--json"),
    daemon.run("status", "mail", "-q"),
  ]);
  assertEquals(up.code, 0);
  assert(/^state: +running$/m.test(up.stdout), up.stdout);
  assert(/^command: +\/srv\/api\.ts --port '80 80'$/m.test(up.stdout), up.stdout);
  assertEquals([down.code, JSON.parse(down.stdout).name], [3, "mail"]);
  assertEquals([quiet.code, quiet.stdout, quiet.stderr], [3, "", ""]);
});

Deno.test("procsup logs prefixes lines with the name only for several processes", async () => {
  const lines = [
    { name: "api:0", stream: "stdout", line: "one\x1b[2J" },
    { name: "api:1", stream: "stdout", line: "two" },
  ];
  await using daemon = new FakeDaemon({}, lines);
  const [all, base, exact, json, jsonl] = await Promise.all([
    daemon.run("logs", "-n", "5"),
    daemon.run("logs", "api", "--err"),
    daemon.run("logs", "0"),
    daemon.run("logs", "api:0", "--json"),
    daemon.run("logs", "api:1", "-o", "jsonl"),
  ]);
  assertEquals(all.stdout, "api:0 | one\napi:1 | two\n");
  assertEquals(base.stdout, all.stdout);
  assertEquals(exact.stdout, "one\ntwo\n");
  assertEquals(JSON.parse(json.stdout), lines);
  assertEquals(jsonl.stdout, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  assertEquals(daemon.streams.toSorted(), [
    "/logs?lines=5",
    "/logs?target=0",
    "/logs?target=api%3A0",
    "/logs?target=api%3A1",
    "/logs?target=api&stderr=true",
  ]);
});

Deno.test("procsup wait --for exit ends with the exit code of the process", async () => {
  await using daemon = new FakeDaemon({
    wait: (payload) => {
      if ((payload as { timeout?: string }).timeout) throw new ProcsupError("timeout", "Timed out");
      return [{ ...ERRORED, last_exit: { ...ERRORED.last_exit, code: 42 } }];
    },
  });
  const [exit, late] = await Promise.all([
    daemon.run("wait", "mail", "--for", "exit"),
    daemon.run("wait", "mail", "--timeout", "1s"),
  ]);
  assertEquals(exit.code, 42);
  assertEquals(late.code, 124);
});

Deno.test("procsup ping, save, resurrect, token, why, signal, shutdown and events print their answers", async () => {
  const event = { type: "state", at: "2026-01-02T03:04:05.000Z", name: "api", state: "running" };
  await using daemon = new FakeDaemon({
    ping: () => ({ status: "ok", version: "0.1.0", protocol: 1 }),
    save: () => ({ status: "saved", count: 1 }),
    resurrect: () => ({ status: "resurrected", count: 2, errors: ["mail: gone"] }),
    token: () => ({ token: "secret" }),
    why: () => ({
      process: ERRORED,
      reasons: ["mail is errored: it exited", "last exit: 1"],
      last_output: ["Boom"],
      hints: [{ command: { verb: "logs" } }],
    }),
    signal: () => ({ status: "signalled", results: [{ name: "api", id: "1", ok: true }] }),
    shutdown: () => ({ status: "stopped", results: [] }),
  }, [event, { type: "shutdown", at: event.at }]);
  const [ping, save, resurrect, token, why, signal, shutdown, events] = await Promise.all([
    daemon.run("ping"),
    daemon.run("save"),
    daemon.run("resurrect"),
    daemon.run("token"),
    daemon.run("why", "mail"),
    daemon.run("signal", "hup", "api"),
    daemon.run("kill"),
    daemon.run("events", "-f", "-n", "0", "-o", "jsonl"),
  ]);
  assertEquals(ping.stdout, "pong (procsup 0.1.0)\n");
  assertEquals(save.stdout, "✔ saved 1 app\n");
  assertEquals([resurrect.code, resurrect.stderr], [1, "✘ mail: gone\n"]);
  assertEquals(token.stdout, "secret\n");
  assertStringIncludes(why.stdout, "mail is errored: it exited\n  last exit: 1\n");
  assertEquals(signal.stdout, "✔ api  signalled\n");
  assertEquals(shutdown.code, 0);
  assertEquals([events.code, events.stdout], [5, `${JSON.stringify(event)}\n`]);
  const sent = daemon.requests.find((request) => request.action === "signal");
  assertEquals(sent?.payload, { target: "api", signal: "SIGHUP" });
});

Deno.test("procsup metrics -o name names the host", async () => {
  const answer = { since: "", until: "", step: 1, series: [{ name: null, points: [] }] };
  await using daemon = new FakeDaemon({ metrics_history: () => answer });
  assertEquals((await daemon.run("metrics", "-o", "name")).stdout, "host\n");
});

Deno.test("procsup shutdown does not report the end of a daemon that has not ended", async () => {
  await using daemon = new FakeDaemon({ shutdown: () => ({ status: "stopped", results: [] }) });
  using _lock = takeLock(prepareHome(daemon.home).lock);
  const record = sealed({ pid: Deno.pid, words: [], service: null });
  Deno.writeTextFileSync(recordPath(daemon.home), record);
  const { stderr } = await daemon.run("shutdown");
  assertEquals(stderr, `the daemon (pid ${Deno.pid}) has not ended yet\n`);
});

Deno.test("procsup help and --version need neither home nor daemon", async () => {
  const [version, help, of] = await Promise.all([
    runCommandLine(["--version"], { HOME: "", PROCSUP_HOME: "" }),
    runCommandLine(["--help"], { HOME: "", PROCSUP_HOME: "" }),
    runCommandLine(["help", "strat"]),
  ]);
  assertEquals([version.code, version.stdout], [0, "procsup 0.1.0\n"]);
  assertStringIncludes(help.stdout, "Exit codes");
  assertEquals(of.code, 2);
});

Deno.test("procsup loads neither the schema library nor hono at startup", async () => {
  const info = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", import.meta.resolve("../../main.ts")],
  }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(info.stdout)) as {
    modules: {
      specifier: string;
      dependencies?: { code?: { specifier: string }; isDynamic?: boolean }[];
    }[];
  };
  const byName = new Map(modules.map((module) => [module.specifier, module]));
  const seen = new Set<string>();
  const visit = (specifier: string) => {
    if (seen.has(specifier)) return;
    seen.add(specifier);
    for (const dependency of byName.get(specifier)?.dependencies ?? []) {
      if (!dependency.isDynamic && dependency.code) visit(dependency.code.specifier);
    }
  };
  const entries = ["main.ts", "list", "status", "logs", "start", "bulk", "inspect"];
  for (const { specifier } of modules) {
    if (
      entries.some((name) =>
        specifier.endsWith(`/${name}`) || specifier.endsWith(`/commands/${name}.ts`)
      )
    ) {
      visit(specifier);
    }
  }
  assert([...seen].some((specifier) => specifier.endsWith("/protocol/daemon_client.ts")));
  assertEquals([...seen].filter((specifier) => /zod|hono|node:|config_schema/.test(specifier)), []);
});
