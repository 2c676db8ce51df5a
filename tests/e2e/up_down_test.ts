/** `up` and `down` of a configuration file, as in other tools. */

import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { cli, cliIn, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const FILE = `
processes:
  db: { entrypoint: sleep, args: ["1000"], min_uptime: 10ms }
  api: { entrypoint: sleep, args: ["1000"], min_uptime: 10ms, instances: 2, depends_on: [db] }
`;

async function states(daemon: TestDaemon): Promise<Record<string, string>> {
  return Object.fromEntries((await daemon.client.call("list")).map((p) => [p.name, p.state]));
}

Deno.test("up starts stopped apps again, and down deletes only apps of the file", async () => {
  const file = `${daemon.home}/procsup.yaml`;
  Deno.writeTextFileSync(file, FILE);
  await daemon.startScript("other", "exec sleep 1000");
  assertEquals((await daemon.cli("up", file)).code, 0);
  await daemon.cli("stop", "all");
  const again = await daemon.cli("up", file);
  assertEquals(again.code, 0);
  assertEquals(await states(daemon), {
    ...{ other: "stopped", db: "running", "api:0": "running", "api:1": "running" },
  });
  Deno.writeTextFileSync(file, FILE.replace("min_uptime", "tags: [x], min_uptime"));
  const tagged = await daemon.cli("up", file);
  assertEquals([tagged.stdout, tagged.stderr], ["", "db: changed, without a restart\n"]);
  const same = await daemon.cli("up", file);
  assertEquals(same.stderr, "nothing to do: everything is up to date\n");

  Deno.writeTextFileSync(file, FILE.replace("instances: 2", "instances: 1"));
  assertEquals((await daemon.cli("up", file)).stdout, "✔ api:1  deleted\n");
  Deno.writeTextFileSync(file, FILE);
  assertMatch((await daemon.cli("up", file)).stdout, /^✔ api:1 {2}running {2}pid \d+\n$/);

  // Dependents stop first; apps that left the file are deleted too.
  Deno.writeTextFileSync(file, FILE.replace("api:", "web:"));
  const down = await daemon.cli("down", file);
  assertEquals(down.code, 0, down.stderr);
  assertMatch(down.stdout, /^(✔ api:\d {2}deleted\n){2}✔ db {2}deleted\n$/);
  assertEquals(await states(daemon), { other: "stopped" });
  // Nor does a reload of the last file, as by SIGHUP, start them again.
  await assertRejects(
    () => daemon.client.call("config_reload", {}),
    Error,
    "No configuration file is applied",
  );
  const nothing = await daemon.cli("down", file);
  assertEquals([nothing.code, nothing.stdout], [0, ""]);
  assertEquals(nothing.stderr, "nothing to do: none of its apps exists\n");
});

Deno.test("up keeps stopped what is to stay so, plans what it would start, and finds the daemon's files", async () => {
  await using empty = tempHome();
  Deno.writeTextFileSync(`${empty.path}/procsup.yaml`, "processes: {}\n");
  const file = `${daemon.home}/procsup.yaml`;
  const [db, web] = ["db", "web"].map((name) =>
    `  ${name}: { command: sleep 1000, min_uptime: 10ms }\n`
  );
  const write = (...apps: (string | undefined)[]) =>
    Deno.writeTextFileSync(file, `processes:\n${apps.join("")}`);
  const up = (...words: string[]) => cliIn(daemon.home, {}, "up", ...words);
  write(db);
  assertEquals((await up(file)).code, 0);
  await daemon.cli("stop", "db");
  write(db, web);
  const plan = await up(file, "--dry-run");
  assertEquals([plan.code, plan.stdout], [0, "+ web  new\n+ db   start\n= 1 unchanged\n"]);
  assertEquals(
    (await up(file, "--dry-run", "--keep-stopped")).stdout,
    "+ web  new\n= 1 unchanged\n",
  );
  assertEquals(await states(daemon), { db: "stopped" });
  assertMatch((await up(file, "--keep-stopped")).stdout, /^✔ web {2}running {2}pid \d+\n$/);
  assertEquals(await states(daemon), { db: "stopped", web: "running" });
  write(db);
  const kept = await up("--last", "--keep-stopped");
  assertEquals([kept.code, kept.stderr], [
    0,
    "web: not in file (kept; use --prune to remove)\nnothing to do: everything is up to date\n",
  ]);
  const pruned = await up("--last", "--prune");
  assertEquals(pruned.code, 0, pruned.stderr);
  assertMatch(pruned.stdout, /^✔ web {2}deleted\n✔ db {2}running {2}pid \d+\n$/);
  const both = await up(file, "--last");
  assertEquals([both.code, both.stderr.split("\n")[0]], [
    2,
    "error: Cannot use --last with a file",
  ]);
  const part = await up(file, "--prune", "--only", "db");
  assertEquals([part.code, part.stderr.split("\n")[0]], [
    2,
    'error: Cannot use "prune" with "only"',
  ]);
  assertEquals((await daemon.cli("down", file)).code, 0);
  assertEquals((await up(file, "--only", "db")).code, 0);
  const again = await up("--last", "--prune");
  assertEquals([again.code, again.stderr.split("\n")[0]], [
    2,
    'error: Cannot use "prune": the last files were applied with "only" "db"',
  ]);
  const planned = await cliIn(empty.path, {}, "up", file, "--prune", "--only", "db", "--dry-run");
  assertEquals([planned.code, planned.stderr.split("\n")[0]], [
    2,
    'error: Cannot use "prune" with "only"',
  ]);
  for (const words of [["--last"], ["--last", "--dry-run"]]) {
    const none = await cliIn(empty.path, {}, "up", ...words);
    assertEquals([none.code, none.stderr.includes("No daemon answers")], [5, true]);
  }
});

Deno.test("one of several files removes nothing that another of them may have", async () => {
  const write = (name: string, apps: readonly string[], more = "") => {
    const file = `${daemon.home}/${name}.yaml`;
    const lines = apps.map((app) => `  ${app}: { command: sleep 1000, min_uptime: 10ms }\n`);
    Deno.writeTextFileSync(file, `processes:\n${lines.join("")}${more}`);
    return file;
  };
  const web = "webhooks: { ops: { url: http://127.0.0.1:8123 } }\n";
  const [a, b] = [write("a", ["one", "left"]), write("b", ["two"], web)];
  assertEquals((await daemon.cli("up", a, b)).code, 0);
  write("a", ["one"]);
  const pruned = await daemon.cli("up", a, "--prune");
  assertEquals([pruned.code, pruned.stdout], [0, ""]);
  const down = await daemon.cli("down", a);
  assertEquals([down.code, down.stdout], [0, "✔ one  deleted\n"]);
  assertEquals(await states(daemon), { left: "running", two: "running" });
  assertEquals((await daemon.client.call("webhook_list")).length, 1);
  const both = await daemon.cli("up", a, b, "--prune", "--json");
  assertEquals([JSON.parse(both.stdout).removed, JSON.parse(both.stdout).added], [["left"], [
    "one",
  ]]);
});

Deno.test("down --only keeps apps that other apps need", async () => {
  const file = `${daemon.home}/procsup.yaml`;
  Deno.writeTextFileSync(file, FILE);
  assertEquals((await daemon.cli("up", file, "--only", "api")).code, 0);
  const down = await daemon.cli("down", file, "--only", "api");
  assertMatch(down.stdout, /^(✔ api:\d {2}deleted\n){2}$/);
  assertEquals(await states(daemon), { db: "running" });
  const unknown = await daemon.cli("down", file, "--only", "wbe");
  assertEquals([unknown.code, await states(daemon)], [4, { db: "running" }]);
});

Deno.test("up --only makes a reload apply these apps, not the others of the file", async () => {
  const file = `${daemon.home}/procsup.yaml`;
  const more = "  web: { command: sleep 1000, min_uptime: 10ms }\n";
  Deno.writeTextFileSync(file, `${FILE.replace(", instances: 2", "")}${more}`);
  const reloaded = async () => {
    const { added, kept } = await daemon.client.call("config_reload", {});
    return [added, kept, Object.keys(await states(daemon)).sort()];
  };
  assertEquals((await daemon.cli("up", file)).code, 0);
  assertEquals((await daemon.cli("down", file)).code, 0);
  assertEquals((await daemon.cli("up", file, "--only", "api")).code, 0);
  assertEquals(await reloaded(), [[], [], ["api", "db"]]);
  assertEquals((await daemon.cli("up", file, "--only", "web")).code, 0);
  await daemon.cli("delete", "web");
  assertEquals(await reloaded(), [["web"], [], ["api", "db", "web"]]);
  assertEquals((await daemon.cli("down", file, "--only", "web")).code, 0);
  assertEquals(await reloaded(), [[], [], ["api", "db"]]);
  // A name that left the file does not matter to the others.
  Deno.writeTextFileSync(file, `processes:\n${more}`);
  assertEquals(await reloaded(), [[], [], ["api", "db"]]);
  assertEquals((await daemon.cli("up", file)).code, 0);
  Deno.writeTextFileSync(file, FILE.replace(", instances: 2", ""));
  assertEquals((await reloaded()).slice(0, 2), [[], ["web"]]);
});

Deno.test("down lists nothing that procsup lacks, which up does", async () => {
  const file = `${daemon.home}/process-compose.yaml`;
  Deno.writeTextFileSync(file, "processes: { a: { command: sleep 1000, wild: 1 } }\n");
  const up = await daemon.cli("up", file, "--no-wait");
  assertStringIncludes(
    up.stderr,
    "not converted (a, process-compose.yaml:1): wild: procsup has no counterpart: check that it works without\n",
  );
  const down = await daemon.cli("down", file);
  assertEquals([down.code, down.stdout, down.stderr], [0, "✔ a  deleted\n", ""]);
});

Deno.test("down needs only the names in a file, and up reports that a job is scheduled", async () => {
  const file = `${daemon.home}/procsup.yaml`;
  const script = `${daemon.home}/api.sh`;
  Deno.writeTextFileSync(script, "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 });
  Deno.writeTextFileSync(
    file,
    `processes:
  api: { entrypoint: ./api.sh, min_uptime: 10ms, env: { PORT: "\${SHOP_PORT}" } }
  backup: { entrypoint: ./api.sh, cron: "0 4 * * *" }
`,
  );
  const up = await cliIn(daemon.home, { SHOP_PORT: "8080" }, "up", file);
  assertEquals(up.code, 0, up.stderr);
  assertMatch(up.stdout, /^✔ backup {2}scheduled$/m);
  Deno.removeSync(script);
  const down = await daemon.cli("down", file);
  assertEquals([down.code, down.stderr], [0, ""]);
  assertEquals(down.stdout.trim().split("\n").sort(), ["✔ api  deleted", "✔ backup  deleted"]);
  assertEquals(await states(daemon), {});
});

Deno.test("up reports an app that fails to start, and refuses another checkout with a hint to use its own daemon", async () => {
  const [one, two] = ["one", "two"].map((name) => `${daemon.home}/${name}.yaml`);
  for (const file of [one!, two!]) {
    Deno.writeTextFileSync(
      file,
      'processes: { bad: { entrypoint: sh, args: ["-c", "exit 3"], restart_policy: never } }\n',
    );
  }
  assertEquals((await daemon.cli("up", one!)).code, 1);
  const again = await daemon.cli("up", one!);
  assertEquals(again.code, 1);
  assertStringIncludes(again.stderr, "exited with code 3");
  // Applying does not retry the start, but still reports the failure.
  const applied = await daemon.cli("up", one!, "--keep-stopped");
  assertEquals([applied.code, applied.stdout], [0, ""]);
  assertStringIncludes(applied.stderr, "bad is crashed: procsup why bad");
  for (const verb of ["up", "down"]) {
    const refused = await daemon.cli(verb, two!);
    assertEquals(refused.code, 6);
    assertStringIncludes(refused.stderr, "PROCSUP_HOME");
  }
  assertEquals(await states(daemon), { bad: "crashed" });
});

Deno.test("up rejects an app that was started in another folder, and takes over one in its own folder", async () => {
  const file = `${daemon.home}/shop/procsup.yaml`;
  Deno.mkdirSync(`${daemon.home}/shop/api`, { recursive: true });
  const sleep = { entrypoint: "/bin/sleep", args: ["1000"] };
  const web = { ...sleep, min_uptime: "10ms" };
  Deno.writeTextFileSync(file, JSON.stringify({ processes: { api: web } }));
  await daemon.client.call("start", { ...sleep, name: "api", cwd: daemon.home });
  const { pid } = await daemon.client.call("status", "api");
  for (const words of [["up"], ["up", "--keep-stopped"], ["start"]]) {
    const refused = await daemon.cli(...words, file);
    assertEquals(refused.code, 6);
    assertStringIncludes(refused.stderr, `"api" was started in "${daemon.home}"`);
  }
  assertEquals((await daemon.client.call("status", "api")).pid, pid);
  await daemon.client.call("delete", "api");
  await daemon.client.call("start", { ...sleep, name: "api", cwd: `${daemon.home}/shop/api` });
  assertEquals((await daemon.cli("up", file)).code, 0);
});

Deno.test("resurrect starts the daemon, and reports when every app already exists", async () => {
  await using old = await TestDaemon.start();
  await old.startScript("kept", "exec sleep 1000");
  await old.cli("save");
  await using home = await tempHome();
  Deno.mkdirSync(`${home.path}/state`, { recursive: true });
  Deno.copyFileSync(`${old.home}/state/saved.json`, `${home.path}/state/saved.json`);
  try {
    const cache = `${home.path}/cache`;
    const back = await cliIn(home.path, { PROCSUP_CACHE: cache }, "resurrect");
    assertEquals([back.code, back.stdout], [0, "✔ resurrected 1 app\n"]);
    assertMatch((await cli(home.path, "list", "-o", "name")).stdout, /^kept$/m);
    // Otherwise the executable would unpack again for the daemon.
    const { daemon } = await new DaemonClient(home.path).call("system_metrics");
    const environment = await Deno.readTextFile(`/proc/${daemon.pid}/environ`);
    assertStringIncludes(environment, `PROCSUP_CACHE=${cache}\0`);
    const again = await cli(home.path, "resurrect");
    assertStringIncludes(again.stderr, "procsup start all");
  } finally {
    await cli(home.path, "shutdown", "--yes");
  }
});

Deno.test("up lists every app while the first starts, and start --no-wait does not wait for pre_start", async () => {
  const file = `${daemon.home}/procsup.yaml`;
  const pre_start = `until [ -e ${daemon.home}/go ]; do sleep 0.1; done`;
  const sleeper = { entrypoint: "sleep", args: ["1000"], min_uptime: "10ms" };
  const processes = {
    db: { ...sleeper, hooks: { pre_start } },
    api: { ...sleeper, depends_on: ["db"] },
  };
  Deno.writeTextFileSync(file, JSON.stringify({ processes }));
  const up = daemon.cli("up", file);
  await waitFor(async () => (await states(daemon)).db === "starting");
  assertEquals(Object.keys(await states(daemon)), ["db", "api"]);
  Deno.writeTextFileSync(`${daemon.home}/go`, "");
  assertEquals((await up).code, 0);
  await daemon.cli("stop", "all");
  Deno.removeSync(`${daemon.home}/go`);
  const start = await daemon.cli("start", "db", "--no-wait");
  assertEquals([start.code, start.stdout], [0, "✔ db  starting\n"]);
  Deno.writeTextFileSync(`${daemon.home}/go`, "");
  await waitFor(async () => (await states(daemon)).db === "running");
});

Deno.test("an up that waits for ever blocks nothing else, and the next daemon knows its file", async () => {
  const file = `${daemon.home}/procsup.yaml`;
  const db = `
processes:
  db:
    entrypoint: sleep
    args: ["1000"]
    health_check: { type: tcp, tcp_endpoint: "127.0.0.1:1", on_failure: none }
`;
  const app = `{ entrypoint: sleep, args: ["1000"], min_uptime: 10ms`;
  Deno.writeTextFileSync(file, `${db}  api: ${app}, depends_on: { db: healthy } }\n`);
  const other = `${daemon.home}/other.yaml`;
  Deno.writeTextFileSync(other, `processes:\n  web: ${app} }\n`);
  const waiting = daemon.cli("up", file);
  await waitFor(async () => (await states(daemon)).api === "waiting");
  for (const words of [["config", "plan", file], ["up", other], ["down", other], ["up", other]]) {
    const { code, stderr } = await daemon.cli(...words);
    assertEquals(code, 0, stderr);
  }
  await daemon.kill();
  await daemon.run();
  assertEquals((await waiting).code, 5);
  // Gone from the file, so it is removed: the daemon knows where it came from.
  Deno.writeTextFileSync(file, db);
  const applied = await daemon.cli("up", file, "--prune");
  assertEquals(applied.code, 0, applied.stderr);
  assertEquals(await states(daemon), { db: "running", web: "running" });
});

Deno.test("a changed app that waits for ever holds up no other change, and gives way to a later one", async () => {
  const file = `${daemon.home}/procsup.json`;
  const sleeper = { entrypoint: "sleep", args: ["1000"], min_uptime: "10ms" };
  const never = { type: "tcp", tcp_endpoint: "127.0.0.1:1", on_failure: "none" };
  const db = { ...sleeper, health_check: never };
  const write = (api: object) =>
    Deno.writeTextFileSync(
      file,
      JSON.stringify({ processes: { db, api: { ...sleeper, ...api } } }),
    );
  write({});
  assertEquals((await daemon.cli("up", file)).code, 0);
  write({ depends_on: { db: "healthy" }, env: { V: "1" } });
  const waiting = daemon.client.call("config_reload", { config_path: file, wait: true });
  await waitFor(async () => (await states(daemon)).api === "waiting");
  write({ env: { V: "2" } });
  const fixed = daemon.cli("up", file);
  await waitFor(async () => (await states(daemon)).api === "running", { what: "the fixed app" });
  assertEquals((await fixed).code, 0);
  await waiting;
});
