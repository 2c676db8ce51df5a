/** Configuration files in the real program. */

import { fromFileUrl } from "@std/path";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { walkSync } from "@std/fs/walk";
import { cli, cliIn, TestDaemon } from "../support/procsup.ts";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const MANY = 20;
const FIXTURES = fromFileUrl(import.meta.resolve("../../src/import/tests/fixtures/"));

/** A file with many processes, each with a distinct argument. */
function many(change: (index: number) => string = () => ""): string {
  const lines = Array.from(
    { length: MANY },
    (_, i) => `  p${i}: { entrypoint: sleep, args: ["100000"], stop_timeout: 1s${change(i)} }`,
  );
  return `defaults: { cwd: / }\nprocesses:\n${lines.join("\n")}\n`;
}

async function pids(daemon: TestDaemon): Promise<Map<string, number>> {
  return new Map((await daemon.client.call("list")).map(({ name, pid }) => [name, pid]));
}

Deno.test("up restarts only the changed one of 20, and none when nothing changed or all is invalid", async () => {
  const file = `${daemon.home}/procsup.yaml`;
  Deno.writeTextFileSync(file, many());
  const started = await daemon.client.call("start_all", { config: file });
  assertEquals([started.started.length, started.errors], [MANY, []]);
  const before = await pids(daemon);

  const same = await daemon.client.call("config_reload", {});
  assertEquals([same.unchanged.length, same.changed, same.added], [MANY, [], []]);
  assertEquals(await pids(daemon), before);

  Deno.writeTextFileSync(file, many((i) => i === 17 ? ", env: { LEVEL: s3cret }" : ""));
  const plan = await daemon.cli("config", "plan", file);
  assertEquals([plan.code, plan.stdout], [
    0,
    `~ p17  env.LEVEL changed   (restart)\n= ${MANY - 1} unchanged\n`,
  ]);
  assertEquals(await pids(daemon), before);
  const one = await daemon.client.call("config_reload", { config_path: file });
  assertEquals([one.changed, one.errors], [["p17"], []]);
  const after = await pids(daemon);
  assertEquals([...after].filter(([name, pid]) => before.get(name) !== pid).length, 1);

  Deno.writeTextFileSync(file, many((i) => i === 3 ? ", instnces: 2" : ", env: { A: b }"));
  const broken = await daemon.cli("up", file);
  assertEquals(broken.code, 2);
  assertMatch(broken.stderr, /procsup\.yaml:6:\d+ "p3": unknown key "instnces": did you mean/);
  const hangup = async () => {
    Deno.kill(daemon.pid, "SIGHUP");
    await waitFor(() => /not reloaded/.test(Deno.readTextFileSync(`${daemon.home}/daemon.log`)), {
      what: "the daemon to have refused the file",
    });
  };
  await hangup();
  assertEquals(await pids(daemon), after);

  Deno.writeTextFileSync(file, many((i) => i === 5 ? ", labels: { a: b }, namespace: x" : ""));
  Deno.kill(daemon.pid, "SIGHUP");
  await waitFor(async () => (await pids(daemon)).get("p5") !== after.get("p5"), {
    what: "SIGHUP to apply the file",
  });
  const [owners] = await daemon.client.call("releases", "p17");
  const [hangups] = await daemon.client.call("releases", "p5");
  assertEquals([owners!.by, hangups!.by], ["owner", "SIGHUP"]);
});

Deno.test("up scales, rolls, prunes only its own processes, and rejects another file's process", async () => {
  const write = (name: string, text: string) => {
    Deno.writeTextFileSync(`${daemon.home}/${name}`, text);
    return `${daemon.home}/${name}`;
  };
  const inline = { processes: { byhand: { entrypoint: "sleep", args: ["1000"], cwd: "/" } } };
  const given = await daemon.client.call("start_all", { config: inline });
  assertEquals([given.started, given.errors], [["byhand"], []]);
  const file = write(
    "a.yaml",
    `processes:
  db: { entrypoint: sleep, args: ["1000"], tags: [data] }
  api: { entrypoint: sleep, args: ["1000"], instances: 2, min_uptime: 50ms, depends_on: [db] }
  old: { entrypoint: sleep, args: ["1000"] }
  off: { entrypoint: sleep, args: ["1000"], autostart: false }
`,
  );
  for (const verb of [["start", file], ["up", file]]) {
    const none = await daemon.cli(...verb, "--only", " , ");
    assertEquals([none.code, none.stderr], [
      2,
      'error: Invalid "only" " , ": expected the name of a process\n' +
      `  more: procsup help ${verb[0]}\n`,
    ]);
  }
  const part = await daemon.cli("start", file, "--only", "api", "--no-wait");
  assertEquals(part.code, 0, part.stderr);
  assertEquals([...(await pids(daemon)).keys()], ["byhand", "db", "api:0", "api:1"]);
  await daemon.client.call("start_all", { config: file });
  assertEquals((await daemon.status("off")).state, "stopped");
  const running = async () => [...await pids(daemon)].filter(([, pid]) => pid > 0).length;
  await waitFor(async () => await running() === 5, { what: "all but one to run" });
  const before = await pids(daemon);

  write(
    "a.yaml",
    `processes:
  db: { entrypoint: sleep, args: ["1000"], tags: [data], max_restarts: 3 }
  api: { entrypoint: sleep, args: ["1000"], instances: 3, min_uptime: 50ms, depends_on: [db] }
`,
  );
  const scaled = await daemon.client.call("config_reload", { config_path: file });
  assertEquals([scaled.changed, scaled.kept, scaled.errors], [["db", "api"], ["old", "off"], []]);
  const after = await pids(daemon);
  for (const [name, pid] of before) assertEquals(after.get(name), pid, name);
  await waitFor(async () => (await pids(daemon)).get("api:2")! > 0, { what: "api:2 to run" });

  const other = write("b.yaml", 'processes: { api: { entrypoint: sleep, args: ["1"] } }\n');
  const fight = await daemon.cli("up", other);
  assertEquals(fight.code, 6);
  assertStringIncludes(fight.stderr, `"api" comes from "${file}"`);

  const pruned = await daemon.cli("up", file, "--prune");
  assertEquals([pruned.code, pruned.stdout.includes("✔ old  deleted")], [0, true]);
  assertEquals([...(await pids(daemon)).keys()], ["byhand", "db", "api:0", "api:1", "api:2"]);
});

Deno.test("config show and validate include what --only selects and its dependencies", async () => {
  await using home = await tempHome();
  const file = `${home.path}/procsup.yaml`;
  Deno.writeTextFileSync(
    file,
    `web: { listen: "127.0.0.1:9615" }
processes:
  db: { entrypoint: sleep }
  api: { entrypoint: sleep, depends_on: [db] }
  worker: { entrypoint: no-such-program, depends_on: [db] }
`,
  );
  const words = ["--only", "api", file];
  const shown = await cli(home.path, "config", "show", "--json", ...words);
  const { processes, ...settings } = JSON.parse(shown.stdout);
  assertEquals(processes.map(({ name }: { name: string }) => name), ["db", "api"]);
  assertEquals(settings, {});
  const valid = await cli(home.path, "config", "validate", "-o", "name", ...words);
  assertEquals([valid.code, valid.stdout], [0, "db\napi\n"]);
  const unknown = await cli(home.path, "config", "validate", "--only", "apu", file);
  assertEquals(unknown.code, 4);
});

Deno.test("start accepts files of other tools, and their processes run", async () => {
  // Some of them write log files to the same folder.
  await using folder = tempHome();
  await new Deno.Command("cp", { args: ["-r", `${FIXTURES}.`, folder.path] }).output();
  const files = [
    ["pm2/ecosystem.config.js", "pm2/ecosystem.config.cjs", "pm2/ecosystem.json", "pm2/dump.pm2"],
    ["supervisord/supervisord.conf", "supervisord/laravel-worker.conf", "supervisord/gunicorn.ini"],
    ["procfile/Procfile", "procfile/Procfile.dev", "procfile/heroku.procfile"],
    [
      "process-compose/process-compose.yaml",
      "process-compose/process-compose.disabled.yaml",
      "process-compose/flow.yaml",
    ],
  ];
  for (const group of files) {
    for (const name of group) {
      const env = name.endsWith("config.js") ? ["--env", "production"] : [];
      const { code, stderr } = await daemon.cli(
        "start",
        `${folder.path}/${name}`,
        "--no-wait",
        ...env,
      );
      assertEquals(code, 0, `${name}: ${stderr}`);
    }
    await waitFor(async () => {
      const list = await daemon.client.call("list");
      return list.length > 0 &&
        list.every(({ state, last_exit }) =>
          state === "running" || (state === "stopped" && (last_exit?.code ?? 0) === 0)
        );
    }, { what: `${group[0]} to run` });
    if (group[0]!.startsWith("pm2")) {
      const log = `${folder.path}/pm2/out-0.log`;
      await waitFor(() => Deno.readTextFileSync(log) === "NODE_ENV=production\n");
    }
    await daemon.client.call("delete", "all");
  }
});

Deno.test("a secret is only in the app's environment", async () => {
  const word = `seeded-${crypto.randomUUID()}`;
  const keep = Deno.makeTempDirSync({ prefix: "ps-secret-" });
  try {
    Deno.writeTextFileSync(`${keep}/file`, `${word}\n`);
    const file = `${daemon.home}/procsup.yaml`;
    Deno.writeTextFileSync(
      file,
      `processes:
  api:
    entrypoint: /bin/sh
    args: ["-c", 'echo "\${#A} \${#B}"; exec sleep 1000']
    hooks: { post_start: "echo $A >&2; exit 1" }
    secrets: { A: { file: ${keep}/file }, B: { command: "cat '${keep}/file'" } }
  broken: { entrypoint: sleep, args: ["1"], autostart: false, secrets: { A: { file: ${keep}/gone } } }
`.replaceAll("${#", () => "$${#"),
    );
    const refused = await daemon.cli("start", file);
    assertEquals(refused.code, 2);
    assertMatch(refused.stderr, /secret "A": the file ".*gone" cannot be read/);
    Deno.writeTextFileSync(file, Deno.readTextFileSync(file).replace(/^ {2}broken.*\n/m, ""));
    const shown = [
      await daemon.cli("start", file),
      await daemon.cli("status", "api", "--json"),
      await daemon.cli("list", "--json"),
      await daemon.cli("why", "api"),
      await daemon.cli("config", "show", file),
      await daemon.cli("config", "plan", file, "--json"),
      await daemon.cli("logs", "api"),
      await daemon.cli("save"),
      refused,
    ].map(({ stdout, stderr }) => stdout + stderr).join("\n");
    const { pid } = await daemon.status("api");
    const environ = Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0");
    assert(environ.includes(`A=${word}`) && environ.includes(`B=${word}`));
    await waitFor(() =>
      Deno.readTextFileSync(`${daemon.home}/apps/api/stdout.log`) ===
        `${word.length} ${word.length}\n`
    );
    await waitFor(() => Deno.readTextFileSync(`${daemon.home}/daemon.log`).includes("exit code 1"));
    assert(!shown.includes(word), "a surface shows it");
    for (const { path, isFile } of walkSync(daemon.home)) {
      if (!isFile) continue;
      assert(!Deno.readTextFileSync(path).includes(word), `${path} holds it`);
    }
    for (const { name } of Deno.readDirSync("/proc")) {
      if (/^\d+$/.test(name)) assert(!argvOf(name).includes(word), `the argv of ${name} holds it`);
    }
  } finally {
    Deno.removeSync(keep, { recursive: true });
  }
});

function argvOf(pid: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/cmdline`);
  } catch {
    return "";
  }
}

Deno.test("variables come from the command that applies a file, not from the daemon", async () => {
  await using temp = tempHome();
  const file = `${temp.path}/procsup.yaml`;
  const app = (size: string) => `  ${size}: { command: "sleep \${${size}:-100}" }\n`;
  Deno.writeTextFileSync(file, `processes:\n${app("SIZE")}`);
  const run = (env: Record<string, string>, ...args: string[]) => cliIn(temp.path, env, ...args);
  try {
    assertEquals((await run({ SIZE: "101", OTHER: "301" }, "up", file)).code, 0);
    const client = new DaemonClient(temp.path);
    const args = async () =>
      (await client.call("list")).map(({ config }) => String(config.args)).join();
    assertEquals(await args(), "101");
    assertEquals((await run({}, "up", file)).code, 0);
    assertEquals(await args(), "100");
    Deno.writeTextFileSync(`${temp.path}/.env`, "SIZE=102\n");
    assertEquals((await run({}, "up", "--last", "--keep-stopped")).code, 0);
    assertEquals(await args(), "102");
    // A reload has no environment of a command, and the daemon keeps nothing of the first one.
    Deno.writeTextFileSync(file, `processes:\n${app("SIZE")}${app("OTHER")}`);
    assertEquals((await run({}, "up", "--last", "--keep-stopped")).code, 0);
    assertEquals(await args(), "102,100");
  } finally {
    await run({}, "shutdown", "--yes");
  }
});
