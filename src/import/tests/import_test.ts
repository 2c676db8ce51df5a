/** Conversion of other tools' files into configurations. */

import { fromFileUrl } from "@std/path";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { offerTools } from "../../config/tools.ts";
import { TOOLS } from "../mod.ts";
import { importFile } from "../import_file.ts";
import { emptyIni } from "../ini.ts";
import { commandOf, shellCommand, splitWords } from "../../model/shell_line.ts";
import { ProcsupError } from "../../model/errors.ts";
import { budgetLeft, recentRestarts } from "../../model/restart_budget.ts";
import { loadConfig } from "../../config/load_config.ts";
import { Files, findings, loadedFrom } from "../../../tests/config/files.ts";

offerTools(TOOLS);

const FIXTURES = fromFileUrl(import.meta.resolve("./fixtures/"));

/** A file of each other tool, as its project documents it. */
const FIXTURE_FILES: readonly (readonly [string, string])[] = [
  ["pm2", "pm2/ecosystem.config.js"],
  ["pm2", "pm2/ecosystem.config.cjs"],
  ["pm2", "pm2/ecosystem.json"],
  ["pm2", "pm2/dump.pm2"],
  ["supervisord", "supervisord/supervisord.conf"],
  ["supervisord", "supervisord/laravel-worker.conf"],
  ["supervisord", "supervisord/gunicorn.ini"],
  ["procfile", "procfile/Procfile"],
  ["procfile", "procfile/Procfile.dev"],
  ["procfile", "procfile/heroku.procfile"],
  ["process-compose", "process-compose/process-compose.yaml"],
  ["process-compose", "process-compose/process-compose.disabled.yaml"],
  ["process-compose", "process-compose/flow.yaml"],
];

const env = { PATH: "/usr/bin:/bin", COMMON: "of the test" };

Deno.test("importFile() writes a file that loads like the imported file itself", async () => {
  for (const [tool, name] of FIXTURE_FILES) {
    const file = FIXTURES + name;
    const direct = await loadConfig({ files: [file], env });
    const { yaml, notes } = await importFile(file, { tool, env, findings });
    await using files = new Files({ "procsup.yaml": yaml });
    const { processes } = await files.load(["procsup.yaml"], { env });
    const seen = (all: typeof processes, folder: string) =>
      JSON.stringify(all.map(({ config }) => config)).replaceAll(folder, "").replaceAll(there, "");
    const there = file.slice(0, file.lastIndexOf("/"));
    const near = (text: string) => text.replaceAll('"./', '"').replaceAll('"/', '"');
    assertEquals(near(seen(processes, files.folder)), near(seen(direct.processes, there)), name);
    for (const { text } of notes) {
      assert(yaml.includes(`# not converted: ${text}`), `${name}: ${text}`);
    }
  }
});

async function imported(name: string, options: { profile?: string } = {}) {
  const { processes, notes } = await loadConfig({ files: [FIXTURES + name], env, ...options });
  return { configs: new Map(processes.map(({ config }) => [config.name, config])), notes };
}

Deno.test("pm2 apps keep their meaning, and unsupported settings are named", async () => {
  const { configs, notes } = await imported("pm2/ecosystem.config.js", { profile: "production" });
  const api = configs.get("api")!;
  assertEquals(api.env, { NODE_ENV: "production", ROOT: "pm2", NODE_APP_INSTANCE: "0" });
  assertEquals([api.instances, api.stopTimeoutMs, api.minUptimeMs], [2, 3000, 5000]);
  assertEquals([api.stopSignal, api.restartPolicy], ["SIGINT", "always"]);
  assertEquals(api.maxMemoryBytes, 300 * 1024 * 1024);
  const worker = configs.get("worker")!;
  assertEquals(worker.args, ["--queue", "high priority", "-v"]);
  assertEquals([worker.restartDelayMs, worker.backoffMaxMs], [4000, 4000]);
  assertEquals(worker.watch?.ignore, ["node_modules", "logs"]);
  assertEquals(configs.get("backup")!.cron?.schedule, "0 3 * * *");
  assertEquals(
    notes.map(({ process, text }) => `${process}: ${text.split(":")[0]}`),
    [
      ...["api: merge_logs", "api: exec_mode"],
      ...["backup: cron_restart", "undefined: deploy"],
    ],
  );
  const dump = await imported("pm2/dump.pm2");
  assertEquals(dump.configs.get("app")!.instances, 2);
  const numbered = { NODE_ENV: "production", NODE_APP_INSTANCE: "0" };
  assertEquals(dump.configs.get("app")!.env, numbered);
  await using files = new Files({
    "dump.pm2": '[{ "name": "a", "pm_exec_path": "/bin/sleep", "exec_mode": "cluster_mode" }]',
    "ecosystem.json": '{ "apps": [] }',
  });
  const { notes: [note] } = await importFile(`${files.folder}/dump.pm2`, { env, findings });
  assertMatch(note!.text, /^exec_mode: /);
  const none = () => importFile(`${files.folder}/ecosystem.json`, { env, findings });
  await assertRejects(none, ProcsupError, "apps: expected a list of apps");
});

Deno.test("an environment that no pm2 app has is wrong only if there are others", async () => {
  const app = { name: "api", script: "sleep 1" };
  await using files = new Files({
    "none.json": JSON.stringify({ apps: [app] }),
    "some.json": JSON.stringify({ apps: [{ ...app, env_production: { PORT: 80 } }] }),
  });
  const { notes } = await files.load(["none.json"], { profile: "prod" });
  assertEquals(notes.map(({ text }) => text), ['profile "prod": the file has no profiles']);
  await assertRejects(
    () => files.load(["some.json"], { profile: "prod" }),
    ProcsupError,
    'unknown profile "prod": expected one of production',
  );
});

Deno.test("a pm2 script with options of its interpreter keeps its relative path", async () => {
  const app = { script: "job.js", node_args: "--trace-warnings", args: "-v" };
  await using files = new Files({
    "ecosystem.json": JSON.stringify({
      apps: [{ ...app, name: "here" }, { ...app, name: "there", cwd: "sub" }],
    }),
    "job.js": "",
    "sub/job.js": "",
  });
  const { processes } = await files.load(["ecosystem.json"]);
  assertEquals(processes.map(({ config }) => config.args), [
    ["--trace-warnings", "job.js", "-v"],
    ["--trace-warnings", "job.js", "-v"],
  ]);
});

Deno.test("log files of process-compose and systemd are kept", async () => {
  await using files = new Files({
    "process-compose.yaml": `processes:
  api: { command: node api.js, log_location: ./api.log }
  many: { command: node many.js, replicas: 2, log_location: ./many.log }
  named: { command: node named.js, log_location: "./\${WHO:-me}.log" }
`,
    "both.service": `[Service]
ExecStart=/bin/true
StandardOutput=append:/var/log/both.log
`,
    "two.service": `[Service]
ExecStart=/bin/true
StandardOutput=file:/var/log/two.log
StandardError=append:/var/log/two.err
`,
    "journal.service": `[Service]
ExecStart=/bin/true
StandardOutput=journal
`,
  });
  const logs = async (name: string) => {
    const { processes, notes } = await files.load([name]);
    const shown = processes.map(({ config: { log: { stdout, stderr } } }) => [stdout, stderr]);
    return [shown, notes.map(({ text }) => text.split(":")[0])];
  };
  const [api, many] = [`${files.folder}/api.log`, `${files.folder}/many-{instance}.log`];
  const named = `${files.folder}/me.log`;
  assertEquals(await logs("process-compose.yaml"), [
    [[api, api], [many, many], [named, named]],
    [],
  ]);
  assertEquals(await logs("both.service"), [[["/var/log/both.log", "/var/log/both.log"]], []]);
  assertEquals(await logs("two.service"), [[["/var/log/two.log", "/var/log/two.err"]], []]);
  assertEquals(await logs("journal.service"), [[[undefined, undefined]], [
    "StandardOutput=journal",
  ]]);
});

Deno.test("pm2's static file server becomes procsup's", async () => {
  const env = {
    PM2_SERVE_PATH: "./dist",
    PM2_SERVE_PORT: 3000,
    PM2_SERVE_SPA: "true",
    PM2_SERVE_BASIC_AUTH: "true",
  };
  const apps = [{ name: "web", script: "serve", env }, { name: "plain", script: "serve" }];
  await using files = new Files({ "ecosystem.json": JSON.stringify({ apps }) });
  const { processes: [web, plain], notes } = await files.load(["ecosystem.json"]);
  assertEquals(web!.config.entrypoint, "procsup");
  assertEquals(web!.config.args, ["serve-files", "./dist", "--port", "3000", "--spa"]);
  assertEquals(plain!.config.args, ["serve-files", ".", "--port", "8080"]);
  assertEquals(notes.map(({ text }) => text.split(":")[0]), ["env.PM2_SERVE_BASIC_AUTH"]);
});

Deno.test("pm2's static file server also reads its folder and port from arguments and a profile", async () => {
  const apps = [
    { name: "words", script: "serve", args: "./site 3000" },
    { name: "set", script: "serve", args: ["./site", 3000], env: { PM2_SERVE_PORT: 3001 } },
    { name: "flags", script: "serve", args: "-s build" },
    {
      name: "live",
      script: "serve",
      env: { PM2_SERVE_PATH: "./dist" },
      env_production: { PM2_SERVE_PORT: 80, PM2_SERVE_HOMEPAGE: "/app.html" },
    },
  ];
  await using files = new Files({ "ecosystem.json": JSON.stringify({ apps }), serve: "" });
  const argsOf = async (profile?: string) => {
    const { processes, notes } = await files.load(["ecosystem.json"], { profile });
    return { args: processes.map(({ config }) => config.args.slice(1).join(" ")), notes };
  };
  const { args, notes } = await argsOf();
  assertEquals(args.slice(0, 2), ["./site --port 3000", "./site --port 3001"]);
  assertEquals(args[3], "./dist --port 8080");
  assertEquals(notes.map(({ text }) => text.split(":")[0]), [
    "args",
    "env_production.PM2_SERVE_HOMEPAGE",
  ]);
  assertEquals((await argsOf("production")).args[3], "./dist --port 80");
});

Deno.test("a pm2 app has a script under any of its names; a file without one is not PM2's", async () => {
  await using files = new Files({
    "exec.json":
      '{"apps":[{"exec":"sleep","args":"9"},{"name":"b","cmd":"sleep"},{"name":"c","command":"sleep"}]}',
    "ours.yaml": "apps:\n  api: { entrypoint: sleep }\n",
    "list.yaml": "apps:\n  - { name: api, entrypoint: sleep }\n",
  });
  const { processes } = await files.load(["exec.json"]);
  assertEquals(processes.map(({ config: { name, args } }) => [name, args]), [
    ["sleep", ["9"]],
    ["b", []],
    ["c", []],
  ]);
  const own = '"processes", with an "entrypoint"';
  const error = await assertRejects(() => files.load(["ours.yaml"]), ProcsupError);
  assertStringIncludes(error.message, 'apps: an app has no "script"');
  assertStringIncludes(error.message, own);
  const listed = await assertRejects(() => files.load(["list.yaml"]), ProcsupError);
  assertStringIncludes(listed.message, 'apps: "api" has no "script"');
});

Deno.test("pm2's instances have their number in a variable, and autostart is kept", async () => {
  const apps = [
    { name: "one", script: "a.js", autostart: false },
    { name: "two", script: "a.js", instances: 2, env: { PORT: 80 }, increment_var: "PORT" },
    { name: "all", script: "a.js", instances: 0, instance_var: "NUMBER", env: { A: "b" } },
  ];
  await using files = new Files({ "ecosystem.json": JSON.stringify({ apps }) });
  const { processes, notes } = await files.load(["ecosystem.json"]);
  assertEquals(processes.map(({ config: { env, incrementEnv } }) => [env, incrementEnv]), [
    [{}, []],
    [{ PORT: "80", NODE_APP_INSTANCE: "0" }, ["PORT", "NODE_APP_INSTANCE"]],
    [{ A: "b", NUMBER: "0" }, ["NUMBER"]],
  ]);
  assertEquals(processes[0]!.config.autostart, false);
  assert(!notes.some(({ text }) => /autostart|instance_var/.test(text)));
});

Deno.test("a limit of 0 or null has its default, as in pm2 and process-compose", async () => {
  const load = async (keys: object) => {
    const apps = [{ name: "a", script: "a.js", cwd: "/tmp", ...keys }];
    return (await loadedFrom("ecosystem.json", JSON.stringify({ apps }))).get("a")!;
  };
  const plain = await load({});
  assertEquals(await load({ kill_timeout: 0, listen_timeout: 0, max_memory_restart: 0 }), plain);
  assertEquals(
    await load({ kill_timeout: null, max_memory_restart: null, instances: null }),
    plain,
  );
  const composed = "processes: { a: { command: sleep 1, shutdown: { timeout_seconds: 0 } } }\n";
  const app = (await loadedFrom("process-compose.yaml", composed)).get("a")!;
  // Without a limit it never kills.
  assertEquals(app.stopTimeoutMs, 8760 * 3_600_000);
});

Deno.test("pm2's max_restarts counts only runs shorter than min_uptime", async () => {
  const app = async (keys: object) => {
    const apps = [{ name: "a", script: "a.js", ...keys }];
    const json = JSON.stringify({ apps });
    const { maxRestarts, restartWindowMs } = (await loadedFrom("ecosystem.json", json)).get("a")!;
    return [maxRestarts, restartWindowMs];
  };
  assertEquals(await app({}), [16, 16_000]);
  assertEquals(await app({ max_restarts: 5, min_uptime: "2m" }), [5, 600_000]);
  assertEquals(await app({ min_uptime: 500 }), [16, 8000]);
  assertEquals((await app({ max_restarts: 0 }))[0], 0);
  assertEquals((await app({ min_uptime: 0 }))[1], 1);
});

Deno.test("pm2's port becomes a variable, and a log called NULL is dropped", async () => {
  await using files = new Files({
    "process.json": '{"apps":[{"script":"sleep","port":3000,"env":{"A":1},"out_file":"NULL"}]}',
  });
  const { processes: [app], notes } = await files.load(["process.json"]);
  assertEquals([app!.config.env, app!.config.log.stdout], [{ A: "1", PORT: "3000" }, undefined]);
  assertEquals(notes.map(({ text }) => text), ["out_file: procsup logs shows what the app writes"]);
});

Deno.test("supervisord programs keep their meaning", async () => {
  const { configs } = await imported("supervisord/supervisord.conf");
  const web = configs.get("web")!;
  assertEquals(web.args, ["-c", "echo port $PORT; exec sleep 1000"]);
  assertEquals(web.env, { COMMON: "1", PORT: "8000", NAME: "a,b", WHO: env.PATH });
  assertEquals([web.namespace, web.stopTimeoutMs, web.maxRestarts], ["site", 2000, 3]);
  assertEquals(web.successExitCodes, [0, 2]);
  assertEquals(configs.get("worker_01")!.args, ["1001"]);
  const laravel = (await imported("supervisord/laravel-worker.conf")).configs.get(
    "laravel-worker",
  )!;
  assertEquals([laravel.instances, laravel.restartPolicy], [3, "always"]);
  const other = await imported("supervisord/gunicorn.ini");
  assertEquals(other.configs.get("gunicorn")!.autostart, false);
  assertEquals(other.configs.get("gunicorn")!.args, ["1000"]);
  assertMatch(other.notes.at(-1)!.text, /^\[eventlistener:mem\]/);
});

Deno.test("a supervisord group with a reserved name becomes a namespace with another name", async () => {
  const text = "[program:a]\ncommand=sleep 1\n[group:all]\nprograms=a\n";
  await using files = new Files({ "supervisord.conf": text });
  const { processes: [app], notes } = await files.load(["supervisord.conf"]);
  assertEquals(app!.config.namespace, "app-all");
  assertEquals(notes.map(({ text }) => text), ['group: "all" became the namespace "app-all"']);
});

Deno.test("supervisord comments may follow a value, and its signal may be a number", async () => {
  const text = "[program:a]\ncommand=run --color=#fff # why\nstopsignal=15 ; TERM\n";
  const a = (await loadedFrom("s.conf", text)).get("a")!;
  assertEquals([a.args, a.stopSignal], [["--color=#fff"], "SIGTERM"]);
});

Deno.test("supervisord's included files are read, each with its own %(here)s", async () => {
  await using files = new Files({
    "supervisord.conf":
      "[include]\nfiles = conf.d/*.conf none/*.ini\n[program:a]\ncommand=sleep 1\n",
    "conf.d/a.conf": "[program:a]\npriority=5\n",
    "conf.d/b.conf": "[program:b]\ncommand=date +%%H\ndirectory=%(here)s\n",
    "conf.d/b.conf.bak": "[program:c]\ncommand=sleep 3\n",
  });
  const { processes, notes } = await files.load(["supervisord.conf"]);
  const [a, b, ...more] = processes.map(({ config }) => config);
  assertEquals([a!.args, a!.priority], [["1"], 5]);
  // supervisord starts a program without a priority last.
  assertEquals([b!.cwd, b!.args, b!.priority], [`${files.folder}/conf.d`, ["+%H"], 999]);
  assertEquals(more, []);
  assertEquals(notes.map(({ text }) => text), ["[include] none/*.ini: no such file"]);
  files.write("conf.d/b.conf", "[program:b]\noops\n");
  const error = await assertRejects(() => files.load(["supervisord.conf"]));
  assertMatch((error as Error).message, /conf\.d\/b\.conf:2:1: not valid ini/);
});

Deno.test("supervisord's startretries counts failed starts, but no later crashes", async () => {
  const program = async (keys: string) => {
    await using files = new Files({ "s.conf": `[program:a]\ncommand=sleep 1\n${keys}` });
    const { processes: [a] } = await files.load(["s.conf"]);
    const { restartPolicy, maxRestarts, restartWindowMs, minUptimeMs, backoffMaxMs } = a!.config;
    return [restartPolicy, maxRestarts, restartWindowMs, minUptimeMs, backoffMaxMs];
  };
  assertEquals(await program(""), ["on-failure", 3, 3000, 1000, 3000]);
  assertEquals(await program("autorestart=true\nstartsecs=4\nstartretries=5\n"), [
    ...["always", 5, 20_000, 4000, 5000],
  ]);
  // procsup counts the same exits as supervisord.
  const policy = { maxRestarts: 5, restartWindowMs: 20_000 };
  const left = (run: number) =>
    budgetLeft(policy, recentRestarts(policy, [1, 2, 3, 4, 5].map((n) => n * run), 6 * run));
  assertEquals([left(3999), left(4000)], [false, true]);
  // With startsecs=0 no start fails, so no restart counts.
  assertEquals((await program("startsecs=0\n")).slice(2, 4), [1, 0]);
  assertEquals((await program("startretries=0\n")).slice(1, 3), [1, 1000]);
  assertEquals((await program("autorestart=false\n"))[0], "never");
});

Deno.test("process-compose processes keep their meaning", async () => {
  const { configs } = await imported("process-compose/process-compose.yaml");
  const [db, migrate, api] = ["db", "migrate", "api"].map((name) => configs.get(name)!);
  assertEquals([db!.waitReady, db!.healthCheck?.command], [true, "true"]);
  assertEquals(migrate!.dependsOn, { db: "healthy" });
  assertEquals(migrate!.args, ["-c", "exec echo $COMMON"]);
  assertEquals(api!.env, { COMMON: "yes", PORT: "8080", PC_REPLICA_NUM: "0" });
  assertEquals([api!.instances, api!.restartPolicy, api!.namespace], [2, "on-failure", "web"]);
  assertEquals([db!.healthCheck?.timeoutMs, db!.healthCheck?.retries], [1000, 3]);
  const { configs: more } = await imported("process-compose/process-compose.disabled.yaml");
  assertEquals([more.get("main")!.autostart, more.get("main")!.readyLog], [
    false,
    "up \\(really\\)",
  ]);
});

Deno.test("process-compose's probes have its defaults, even for 0, and is_tty becomes tty", async () => {
  await using files = new Files({
    "process-compose.yaml": JSON.stringify({
      processes: {
        a: {
          command: "sleep 1",
          is_tty: true,
          liveness_probe: {
            exec: { command: "true" },
            ...{ period_seconds: 0, timeout_seconds: 0, failure_threshold: 0 },
          },
        },
      },
    }),
  });
  const { processes: [a] } = await files.load(["process-compose.yaml"]);
  const { intervalMs, timeoutMs, retries } = a!.config.healthCheck!;
  assertEquals([intervalMs, timeoutMs, retries, a!.config.tty], [10_000, 1000, 3, true]);
});

Deno.test("shellCommand() adds exec when the line is a single command", () => {
  const line = (text: string) => shellCommand(text).args[1];
  assertEquals(line("node app.js > log 2>&1"), "exec node app.js > log 2>&1");
  assertEquals(line("A=1 node app.js"), "exec env A=1 node app.js");
  assertEquals(line("echo 'a && b' \"$PORT;\""), "exec echo 'a && b' \"$PORT;\"");
  for (const kept of ["a && b", "a | b", "cd x; y", "(a)", "if a; then b; fi", "exec a", "a &"]) {
    assertEquals(line(kept), kept);
  }
});

Deno.test("commandOf() leaves an unclosed quote to the shell", () => {
  assertEquals(commandOf(`a 'b c' "it's"`), { entrypoint: "a", args: ["b c", "it's"] });
  for (const line of ["echo don't stop", 'echo "a', "echo a\\"]) {
    assertEquals(commandOf(line), { entrypoint: "/bin/sh", args: ["-c", `exec ${line}`] });
  }
});

Deno.test("splitWords() handles quotes and backslashes", () => {
  assertEquals(splitWords(`a 'b c' "d \\"e\\"" f\\ g x="y z" ''`), [
    ...["a", "b c", 'd "e"', "f g", "x=y z", ""],
  ]);
  assertEquals(splitWords(`--port 80 'c "d' g"h i"j`), ["--port", "80", 'c "d', "gh ij"]);
  assertEquals([splitWords("  "), splitWords('""')], [[], [""]]);
});

/** The sections of one ini file. */
function parseIni(file: string, text: string) {
  const ini = emptyIni();
  ini.add(file, text);
  return ini.sections;
}

Deno.test("an ini file accepts comments and continuation lines, and rejects anything else", () => {
  const sections = parseIni("x.conf", "; no\n[a:b]\nx = 1 ; why\ny=a\n  b\n# no\n");
  const keys = (pairs: Record<string, string>) => new Map(Object.entries(pairs));
  assertEquals([...sections], [["a:b", keys({ x: "1", y: "a\nb" })]]);
  const other = parseIni("x.conf", "[A]\nCommand=Run\n");
  assertEquals(other.get("A"), keys({ command: "Run" }));
  assertThrows(
    () => parseIni("x.conf", "[a]\nnothing\n"),
    ProcsupError,
    "x.conf:2:1: not valid ini: expected [section]",
  );
});

Deno.test("importers read files with a byte order mark", async () => {
  const configs = {
    "supervisord.conf": "[program:a]\ncommand=sleep 1\n",
    Procfile: "a: sleep 1\n",
  };
  for (const [file, text] of Object.entries(configs)) {
    assertEquals([...(await loadedFrom(file, `\uFEFF${text}`)).keys()], ["a"], file);
  }
});
