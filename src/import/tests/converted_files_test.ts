/** Conversion of other tools' files, and of a folder without a configuration. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { offerTools } from "../../config/tools.ts";
import { TOOLS } from "../mod.ts";
import { importFile, initialConfig } from "../import_file.ts";
import { ProcsupError } from "../../model/errors.ts";
import { Files, findings, loadedFrom } from "../../../tests/config/files.ts";

offerTools(TOOLS);

const env = { PATH: "/usr/bin:/bin" };

/** The result of importFile() for one file: the YAML, and the notes. */
async function made(files: Record<string, string>, tool?: string, options = {}) {
  await using folder = new Files(files);
  const [name] = Object.keys(files);
  const given = { ...(tool && { tool }), env, findings, ...options };
  const { yaml, notes } = await importFile(`${folder.folder}/${name}`, given);
  return { yaml, notes: notes.map(({ process, text }) => `${process}: ${text}`) };
}

Deno.test("a file called procsup.* is never read as another tool's", async () => {
  const text = "processes:\n  api: { command: sleep 1, availability: { restart: always } }\n";
  await using files = new Files({ "procsup.yaml": text, "dev.yaml": text });
  const error = await assertRejects(() => files.load(["procsup.yaml"]), ProcsupError);
  assertStringIncludes(error.message, 'unknown key "availability"');
  const { processes: [api] } = await files.load(["dev.yaml"]);
  assertEquals(api!.config.restartPolicy, "always");
});

Deno.test("importFile() writes references instead of environment values", async () => {
  const env = { PATH: "/bin", DB_PASSWORD: "hunter22", APP_DIR: "/srv" };
  const program = 'module.exports = { apps: [{ name: "a", script: "a.js", env: {' +
    ' URL: `pg://me:${process.env.DB_PASSWORD}@db`, MODE: process.env.MODE || "dev" } }] };';
  const files: [string, string][] = [
    ["s.conf", "[program:a]\ncommand=%(ENV_APP_DIR)s/run --key %(ENV_DB_PASSWORD)s %(ENV_GONE)s\n"],
    ["ecosystem.config.js", program],
    ["process-compose.yaml", "processes: { a: { command: run, environment: [P=$DB_PASSWORD] } }\n"],
    ["compose.yml", 'services: { a: { command: "run ${DB_PASSWORD:?}", image: mine } }\n'],
  ];
  for (const [name, text] of files) {
    const { yaml } = await made({ [name]: text }, undefined, { env });
    assertMatch(yaml, /\$\{DB_PASSWORD(:-)?\}/, name);
    assert(!yaml.includes("hunter22"), name);
    if (name === "s.conf") assertStringIncludes(yaml, "entrypoint: ${APP_DIR}/run");
    if (name === "ecosystem.config.js") assertStringIncludes(yaml, "MODE: ${MODE:-dev}");
  }
});

/** A program that sets variables like dotenv: it keeps those that are already set. */
const DOTENV =
  'for (const [name, text] of [["DB_PASSWORD", "hunt" + "er22"], ["ROOT", "/s" + "rv"]])' +
  " process.env[name] ??= text;\n";

Deno.test("importFile() keeps references to variables that a program sets itself, or that are not set", async () => {
  const program = (env: string, more = "") =>
    `${DOTENV}module.exports = { apps: [${more}{ name: "a", script: "a.js", env: {${env}} }] };`;
  const envOf = async (source: string) => {
    const { yaml, notes } = await made({ "ecosystem.config.js": source });
    assert(!yaml.includes("hunter22"), yaml);
    // A condition on the environment cannot be written.
    const conditional = source.includes('? "yes"');
    const note = "a: env.B: written as it is; the program takes it from its environment";
    assertEquals(notes, conditional ? [note] : []);
    return /env:\n((?: {6}.*\n)+)/.exec(yaml)?.[1]?.replaceAll(/^ +/gm, "").trim().split("\n");
  };
  const read = [
    "P: process.env.DB_PASSWORD, U: `pg://me:${process.env.DB_PASSWORD}@db`",
    'K: process.env["API_KEY"], E: encodeURIComponent(process.env.DB_PASSWORD) + "x"',
    'PORT: process.env.PORT || 3000, M: process.env.MODE ?? "dev", T: `v-${process.env.TAG}`',
    'D: `${process.env.ROOT}/a`, B: process.env.ROOT == "/srv" ? "yes" : process.env.DB_PASSWORD',
  ];
  assertEquals(await envOf(program(read.join())), [
    "P: ${DB_PASSWORD}",
    "U: pg://me:${DB_PASSWORD}@db",
    "E: ${DB_PASSWORD}x",
    "PORT: ${PORT:-3000}",
    "M: ${MODE:-dev}",
    "T: v-${TAG}",
    "D: ${ROOT}/a",
    "B: yes",
    "K: ${API_KEY}",
  ]);
  const copied = "...{ DB_PASSWORD: 'hunt' + 'er22' }";
  assertEquals(await envOf(program(copied)), ["DB_PASSWORD: ${DB_PASSWORD}"]);
  // dotenv with { override: true }
  const set = 'process.env.DB_PASSWORD = "hunt" + "er22";';
  const forced = await envOf(set + program("U: `me:${process.env.DB_PASSWORD}`"));
  assertEquals(forced, ["U: me:${DB_PASSWORD}"]);
  // Too short to be recognized, and not from the environment.
  assertEquals(await envOf(`process.env.A = "x" + "y"; ${program("N: 'ax' + 'yz'")}`), ["N: axyz"]);
  assertEquals(await envOf(`process.env.A = "local"; ${program("N: 'x.local'")}`), ["N: x.local"]);
  const other = "...(process.env.MORE ? [{ name: 'more', script: 'b.js', env: {} }] : []), ";
  assertEquals(await envOf(program("P: process.env.DB_PASSWORD", other)), ["P: ${DB_PASSWORD}"]);
  const atOnce = `const { KEY } = process.env;\n${program("KEY")}`;
  assertEquals(await envOf(atOnce), ["KEY: ${KEY}"]);
  const { yaml } = await made({
    "ecosystem.config.js":
      "module.exports = { apps: [{ name: 'a', script: 'a.js', instances: process.env.N || '2' }] }",
  });
  assertStringIncludes(yaml, "instances: 2");
});

Deno.test("importFile() takes no word of a file for a method that every object has", async () => {
  const program =
    'module.exports = { apps: [{ name: "a", script: "a.js", env_constructor: { A: 1 },' +
    " env: { PORT: (3000 + 1).toString() } }] };";
  const { yaml } = await made({ "ecosystem.config.js": program });
  assertStringIncludes(yaml, 'PORT: "3001"');
  assertStringIncludes(yaml, "profiles:\n  constructor:");
  const ini = "[program:a]\ncommand=sleep 1\nenvironment=A=%(constructor)s\n";
  assertStringIncludes((await made({ "s.conf": ini })).yaml, 'A: "%(constructor)s"');
  const service = "{ command: [sleep, '1'], build: ., restart: constructor }";
  const { yaml: composed } = await made({ "compose.yaml": `services: { toString: ${service} }` });
  assertStringIncludes(composed, "restart_policy: never");
  const refused: Record<string, string> = {
    "a.service": "[Service]\nExecStart=/bin/sleep 1\nRestart=constructor\n",
    "b.service": "[Service]\nExecStart=/bin/sleep 1\nRestartSec=5constructor\n",
    "process-compose.yaml":
      "processes: { a: { command: b, availability: { restart: constructor } } }",
  };
  for (const [name, text] of Object.entries(refused)) {
    const error = await assertRejects(() => made({ [name]: text }), ProcsupError);
    assertMatch(
      error.message,
      /:\d+:\d+: "a|b": (Restart|RestartSec|availability): "5?constructor": /,
    );
  }
});

Deno.test("importFile() names the values that it could not replace with references", async () => {
  const { yaml, notes } = await made({
    "ecosystem.config.js":
      'const url = new URL(process.env.URL || "http://a"); module.exports = { apps: [' +
      '{ name: "a", script: "a.js", env: { HOST: url.host } }] };',
  });
  assertStringIncludes(yaml, "HOST: a\n");
  assertMatch(notes.join(), /^undefined: values of the environment: the program fails/);
});

Deno.test("importFile() writes no secrets from PM2's dump, but the dump itself runs with them", async () => {
  const env = { DB_PASSWORD: "hunter22", DATABASE: "pg://me:hunter22@db", NODE_ENV: "production" };
  const dump = JSON.stringify([{ name: "a", pm_exec_path: "/bin/true", pm_cwd: "/", env }]);
  const { yaml, notes } = await made({ "dump.pm2": dump });
  assert(!yaml.includes("hunter22"));
  assertStringIncludes(yaml, "DB_PASSWORD: ${DB_PASSWORD}\n      DATABASE: ${DATABASE}");
  assertStringIncludes(yaml, "NODE_ENV: production");
  assertEquals(notes.map((note) => note.split(":")[1]), [" env.DB_PASSWORD", " env.DATABASE"]);
  assertEquals((await loadedFrom("dump.pm2", dump)).get("a")!.env, env);
});

Deno.test("pm2's other file formats are imported, and its cluster mode shares a port", async () => {
  const app = '{ name: "a", script: "a.js", instances: "max", env: { PORT: 3000 } }';
  for (const text of [`[${app}]`, `{ "pm2": [${app}] }`, app, `{ apps: [${app},], /* c */ }`]) {
    const { yaml, notes } = await made({ "process.json": text });
    assertStringIncludes(yaml, "instances: max");
    assertStringIncludes(yaml, "- 0.0.0.0:3000");
    assertEquals(notes, []);
  }
});

Deno.test("a Procfile's release process runs before the others", async () => {
  const { yaml } = await made({ Procfile: "web: node a.js\nrelease: rake db:migrate\n" });
  const processes = await loadedFrom("procsup.yaml", yaml);
  assertEquals(processes.get("web")!.dependsOn, { release: "completed_ok" });
  assertEquals(processes.get("release")!.restartPolicy, "never");
});

Deno.test("compose services with a build section become processes, and images are named", async () => {
  const text = `services:
  web:
    build: ./app
    command: serve --port $$PORT
    environment: { DB: "\${DB:-local}", KEEP: }
    depends_on: { db: { condition: service_healthy }, tool: { condition: service_started } }
    volumes: ["./app:/code"]
    working_dir: /code/sub
    privileged: true
  tool: { image: "me/tool:1", command: ["tool", "-x"], restart: unless-stopped }
  db: { image: "postgres:16", ports: ["5432:5432"], volumes: ["../data:/data"], environment: { POSTGRES_PASSWORD: x }, healthcheck: { test: ["CMD", "pg_isready"] } }
`;
  const files = {
    "compose.yaml": text,
    "app/Dockerfile": 'FROM node AS a\nCMD old\nFROM a\nENTRYPOINT ["run",\\\n "it"]\nCMD ["y"]\n',
  };
  const { yaml, notes } = await made(files);
  assertStringIncludes(yaml, "entrypoint: run\n    args:\n      - it\n      - serve\n");
  assertStringIncludes(yaml, "cwd: ./app/sub");
  const { yaml: inContext } = await made({
    "compose.yaml": "services: { web: { build: ./app }, top: { build: ., command: top } }",
    "app/Dockerfile": 'FROM node\nCMD ["node", "server.js"]\n',
  });
  assertEquals(inContext.match(/cwd: .+/g), ["cwd: app"]);
  assertStringIncludes(yaml, "DB: ${DB:-local}\n      KEEP: ${KEEP:-}");
  assertStringIncludes(yaml, "depends_on:\n      tool: started");
  for (const lost of ["privileged", "depends_on db", "apt-get install postgresql", "me/tool:1"]) {
    assert(notes.some((note) => note.includes(lost)), lost);
  }
  const docker = await made(files, "compose", { withDocker: true });
  assertStringIncludes(docker.yaml, "entrypoint: docker");
  assertStringIncludes(docker.yaml, "- -p\n      - 5432:5432");
  assertMatch(docker.yaml, /- \/\S+\/data:\/data\n/);
  assertMatch(docker.yaml, /command: docker exec \S+-db pg_isready/);
  const named = 'services: { "x; touch y": { image: redis } }\n';
  const { yaml: hostile } = await made({ "compose.yaml": named }, "compose", { withDocker: true });
  assertMatch(hostile, /pre_start: docker rm -f \S+-x-touch-y >/);
  const nothing = made({ "compose.yaml": "services: { db: { image: redis } }\n" });
  await assertRejects(() => nothing, ProcsupError, "apt-get install redis-server");
});

Deno.test("systemd units keep their meaning, and unsupported settings are named", async () => {
  const text = `[Unit]
After=network.target postgresql.service
StartLimitIntervalSec=0
[Service]
User=www
WorkingDirectory=/srv/app
Environment="A=b c" D=e
ExecStartPre=-/bin/mkdir x
ExecStart=/usr/bin/app --port \${PORT} \\
  --name %n
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-abort
RestartSec=2min 3s
RuntimeMaxSec=1week 1d 2hours
ProtectSystem=full
[Install]
WantedBy=multi-user.target
`;
  const { yaml, notes } = await made({ "app.service": text });
  const app = (await loadedFrom("procsup.yaml", yaml)).get("app")!;
  assertEquals([app.uid, app.cwd, app.env], ["www", "/srv/app", { A: "b c", D: "e" }]);
  assertEquals(app.args, ["-c", 'exec /usr/bin/app --port "${PORT}" --name app.service']);
  assertEquals([app.reloadSignal, app.restartDelayMs], ["SIGHUP", 123_000]);
  assertEquals(app.maxAgeMs, (8 * 24 + 2) * 3_600_000);
  assertEquals(app.hooks.preStart?.command, "/bin/mkdir x || true");
  assertEquals(notes.map((note) => note.split(":")[1]!.trim()), [
    "After=postgresql.service",
    "Restart=on-abort",
    "ProtectSystem=full",
  ]);
  const repeated = `[Service]
ExecStart=/usr/bin/app
Environment=A=1
Environment=B=2
Restart=no
Restart=always
StandardOutput=append:/var/log/old.log
StandardOutput=append:/var/log/new.log
`;
  const last = (await loadedFrom("last.service", repeated)).get("last")!;
  assertEquals([last.restartPolicy, last.env], ["always", { A: "1", B: "2" }]);
  assertEquals(last.log.stdout, "/var/log/new.log");
  const apart = `[Service]
ExecStart=/usr/bin/app
NoNewPrivileges=yes
PrivateTmp=true
ProtectSystem=strict
ReadWritePaths=/srv/a -/srv/b
MemoryHigh=500M
CPUWeight=50
`;
  const { noNewPrivs, privateTmp, readOnly, writable, limits } =
    (await loadedFrom("apart.service", apart)).get("apart")!;
  assertEquals([noNewPrivs, privateTmp, readOnly], [true, true, true]);
  assertEquals(writable, ["/srv/a", "/srv/b"]);
  assertEquals(limits, { memoryHighBytes: 500 * 1024 ** 2, cpuWeight: 50 });
  const notifying = `[Service]
Type=notify-reload
NotifyAccess=all
WatchdogSec=1min
ExecStart=/usr/bin/app
`;
  const told = (await loadedFrom("told.service", notifying)).get("told")!;
  assertEquals([told.notify, told.waitReady, told.watchdogMs], [true, true, 60_000]);
  assertEquals(told.reloadSignal, "SIGHUP");
  const forking = made({ "a.service": "[Service]\nType=forking\nExecStart=/bin/a\n" });
  await assertRejects(() => forking, ProcsupError, "Type=forking");
});

Deno.test("a systemd unit's EnvironmentFile overrides its Environment", async () => {
  await using files = new Files({ "app.env": "PORT=81\n" });
  const path = `${files.folder}/app.env`;
  const unit = (more: string) => `[Service]\nExecStart=/bin/a\nEnvironmentFile=${path}\n${more}`;
  const set = "Environment=PORT=80 MODE=a\n";
  const { yaml, notes } = await made({ "a.service": unit(set) });
  const [app] = (await loadedFrom("procsup.yaml", yaml)).values();
  assertEquals([app!.env, app!.envFile, notes], [{ MODE: "a" }, [path], []]);
  const missing = "EnvironmentFile=/nowhere/b.env\n";
  assertEquals((await made({ "a.service": unit(missing + set) })).notes.length, 1);
  assertEquals((await made({ "a.service": unit(missing) })).notes, []);
});

Deno.test("a systemd unit's commands keep their meaning under the shell", async () => {
  const text = `[Service]
Environment="TWO=a b"
ExecStartPre=/bin/echo a;b 'it''s' ; /bin/echo c
ExecStartPre=/usr/bin/find . -exec echo {} \\;
ExecStart=/usr/bin/printf [%%s] $TWO "\${TWO} *" a|b \`id\` 'x $TWO "q"' $$TWO
`;
  const { yaml } = await made({ "app.service": text });
  const app = (await loadedFrom("procsup.yaml", yaml)).get("app")!;
  assertEquals(
    app.hooks.preStart?.command,
    '/bin/echo "a;b" its && /bin/echo c && /usr/bin/find . -exec echo "{}" ";"',
  );
  const { stdout } = await new Deno.Command("/bin/sh", { args: [...app.args], env: app.env })
    .output();
  assertEquals(
    new TextDecoder().decode(stdout),
    '[a][b][a b *][a|b][`id`][x $TWO "q"][$TWO]',
  );
});

Deno.test("a limit of zero in a systemd unit means no limit", async () => {
  const load = async (lines: string) => {
    const text = `[Service]\nExecStart=/bin/a\nRestart=always\n${lines}\n`;
    return (await loadedFrom("app.service", text)).get("app")!;
  };
  const day = 24 * 3_600_000;
  assert((await load("TimeoutStopSec=0")).stopTimeoutMs > day);
  assert((await load("TimeoutSec=0s")).stopTimeoutMs > day);
  const { stopTimeoutMs, listenTimeoutMs } = await load("TimeoutSec=2min");
  assertEquals([stopTimeoutMs, listenTimeoutMs], [120_000, 120_000]);
  const unlimited = await load("StartLimitBurst=0\nStartLimitIntervalSec=60");
  assertEquals([unlimited.maxRestarts > 0, unlimited.restartWindowMs], [true, 1]);
});

Deno.test("limits of a systemd unit are converted, and a share of the machine is named", async () => {
  const text = `[Service]
ExecStart=/bin/a
MemoryMax=80%
TasksMax=10%
LimitNOFILE=infinity:infinity
LimitAS=4G
LimitFSIZE=2G
`;
  const { yaml, notes } = await made({ "app.service": text });
  const app = (await loadedFrom("procsup.yaml", yaml)).get("app")!;
  assertEquals(app.limits, { addressSpaceBytes: 4 * 1024 ** 3, fileSizeBytes: 2 * 1024 ** 3 });
  const share = "a share of the machine: write a number into limits";
  assertEquals(notes, [`app: MemoryMax=80%: ${share}`, `app: TasksMax=10%: ${share}`]);
});

Deno.test("a systemd command that may fail forgives only its own failure", async () => {
  const text = `[Service]
ExecStart=/bin/a
ExecStartPre=/bin/false
ExecStartPre=-/bin/false
ExecStartPost=-/bin/false
ExecStartPost=/bin/true
`;
  const app = (await loadedFrom("app.service", text)).get("app")!;
  const exitCode = async (command: string) =>
    (await new Deno.Command("/bin/sh", { args: ["-c", command] }).output()).code;
  assertEquals(await exitCode(app.hooks.preStart!.command), 1);
  assertEquals(await exitCode(app.hooks.postStart!.command), 0);
});

const NOTHING = "nothing: procsup recognizes no project in this folder";

Deno.test("initialConfig() writes a valid configuration for the programs in the folder", async () => {
  const cases: readonly (readonly [Record<string, string>, string, string])[] = [
    [{ "package.json": '{"scripts":{"start":"x"}}', ".env": "" }, "package.json", "npm start"],
    [{ "package.json": '{"main":"lib/a.js"}', "lib/a.js": "" }, "package.json", "lib/a.js"],
    // No file, so validate would refuse it.
    [
      { "package.json": '{"main":"lib/a.js","scripts":{"dev":"x"}}' },
      "package.json",
      "npm run dev",
    ],
    [{ "package.json": '{"main":"lib/a.js"}' }, NOTHING, ""],
    [{ "deno.json": '{"tasks":{"dev":"x"}}' }, "deno.json", "deno task dev"],
    [
      { "package.json": '{"main":"a.js\\n    hooks: x"}', "a.js\n    hooks: x": "", "app.js": "" },
      "app.js",
      "app.js",
    ],
    [{ "package.json": '{"main":"sh -c id"}', "sh -c id": "", "app.js": "" }, "app.js", "app.js"],
    [{ "manage.py": "", "app.py": "" }, "manage.py", "python3 manage.py runserver"],
    [{ "Procfile": "web: rackup\n", "package.json": "{}" }, "Procfile", "rackup"],
    [{ "compose.yml": "services: { a: { image: x, command: run } }\n" }, "compose.yml", "run"],
    [{}, NOTHING, ""],
  ];
  for (const [given, from, command] of cases) {
    await using files = new Files(given);
    const made = await initialConfig(files.folder, { env, findings });
    assertEquals(made.from, from);
    files.write("procsup.yaml", made.yaml);
    const { processes } = await files.load(["procsup.yaml"]);
    const lines = processes.map(({ config }) => [config.entrypoint, ...config.args].join(" "));
    assertEquals(lines.map((line) => line.replace(`${files.folder}/`, "")).join(), command);
    assertEquals(processes[0]?.config.envFile?.length ?? 0, ".env" in given ? 1 : 0);
  }
  // validate would refuse it without the program: it is a comment, and what is missing is told.
  await using files = new Files({ artisan: "" });
  const none = new ProcsupError("invalid_config", "php is not installed");
  const lacking = () => Promise.resolve([none]);
  const { yaml, missing } = await initialConfig(files.folder, { env, findings: lacking });
  assertMatch(yaml, /processes: \{\}\n#.*:\n# +command: php artisan serve/);
  assertEquals(missing, [none]);
});

Deno.test("importFile() accepts log files that procsup may write to, one per instance", async () => {
  const program = "[program:a]\ncommand=/bin/true\nnumprocs=2\nredirect_stderr=true\n" +
    "stdout_logfile=out.log\n[program:b]\ncommand=/bin/true\nstdout_logfile=/dev/stdout\n" +
    "stderr_logfile=/tmp/b.log\n";
  const { yaml, notes } = await made({ "s.conf": program });
  assertMatch(yaml, /stdout: .*out-\{instance\}\.log\n +stderr: .*out-\{instance\}\.log\n/);
  assertEquals(notes.map((note) => note.split(":").slice(0, 2).join(":")).sort(), [
    "b: stderr_logfile",
    "b: stdout_logfile",
  ]);
});

Deno.test("importFile() makes a namespace of numprocs with different commands, and keeps different log files", async () => {
  const program = (log: string) =>
    `[program:web]\ncommand=/bin/sleep 10%(process_num)d\nnumprocs=2\nprocess_name=w%(process_num)d
stdout_logfile=${log}.log\n`;
  const own = await made({ "s.conf": program("w_%(process_num)d") });
  assertMatch(
    own.yaml,
    / w0:\n[^]*namespace: web\n[^]*stdout: \S*w_0\.log\n[^]* w1:\n[^]*w_1\.log/,
  );
  const shared = await made({ "s.conf": program("w") });
  assertMatch(shared.yaml, /stdout: \S*w-\{name\}\.log\n/);
});

Deno.test("compose services get the variables and the stop signal of their Dockerfile", async () => {
  const files = {
    "compose.yaml": `services:
  web:
    build: { context: ., args: { VERSION: "2" } }
    env_file: web.env
    environment: { MODE: dev }
  own: { build: ., user: me, stop_signal: SIGTERM, healthcheck: { disable: true } }
`,
    "web.env": "PORT=81\n",
    Dockerfile: `FROM node AS base
ARG VERSION=1
ENV PORT=80 MODE="a b" \\
  # of the base
  RELEASE=v\${VERSION:-0}
ENV PATH=/opt/bin:$PATH LIBRARY=$UNKNOWN/lib
STOPSIGNAL SIGQUIT
USER node
HEALTHCHECK CMD curl localhost
FROM base
ENV GREETING hello  there
CMD ["run"]
`,
  };
  const { yaml, notes } = await made(files);
  const { web, own } = Object.fromEntries(await loadedFrom("procsup.yaml", yaml));
  assertEquals(web!.env, { MODE: "dev", RELEASE: "v2", GREETING: "hello  there" });
  assertEquals(own!.env, { ...web!.env, PORT: "80", MODE: "a b", RELEASE: "v1" });
  assertEquals([web!.stopSignal, own!.stopSignal], ["SIGQUIT", "SIGTERM"]);
  const mine = notes.filter((note) => !/build|services/.test(note));
  assertEquals(mine, [
    "web: ENV PATH: its value is the image's",
    "web: ENV LIBRARY: its value is the image's",
    "web: user node: uid, if it exists here",
    "web: HEALTHCHECK CMD curl localhost: health_check",
    "own: ENV PATH: its value is the image's",
    "own: ENV LIBRARY: its value is the image's",
    "own: user me: uid, if it exists here",
  ]);
  await using folder = new Files({ ...files, "web.env": "not a file of variables\n" });
  const unread = await importFile(`${folder.folder}/compose.yaml`, { env, findings });
  assert(unread.notes.some(({ text }) => text.startsWith("env_file web.env: it cannot be read")));
});

Deno.test("a compose health check gets the variables that compose fills in", async () => {
  const service = (test: string, more = "") => ({
    "compose.yml": `services: { a: { image: mine, command: run, ${more} healthcheck: ${test} } }\n`,
    "a.env": "FILED=1\n",
  });
  const checked = async (test: string, more?: string) => {
    const { yaml } = await made(service(`{ test: ${test} }`, more));
    const [app] = (await loadedFrom("procsup.yaml", yaml)).values();
    const line = app!.healthCheck?.command;
    const { stdout } = await new Deno.Command("/bin/sh", {
      args: ["-c", line!],
      env: { ...app!.env, INNER: "inner" },
    }).output();
    return [new TextDecoder().decode(stdout).trim(), Object.keys(app!.env).join()];
  };
  const shell = '"echo $USED ${PORT:-80} $$INNER ${FILED:-2}"';
  assertEquals(await checked(shell, "environment: { USED: u }, env_file: a.env,"), [
    "u 80 inner 2",
    "USED,PORT",
  ]);
  const words = '[CMD, echo, "it\'s ${WHO:-me  too}", $$INNER]';
  assertEquals(await checked(words), ["it's me  too $INNER", "WHO"]);
  const docker = service('{ test: "echo $$A ${B:-b}" }');
  const { yaml } = await made(docker, undefined, { withDocker: true });
  assertMatch(yaml, /sh -c 'echo \$A '"\$\{B:-b\}"\n/);
  assert(!(await made(service("{ interval: 5s }"))).yaml.includes("health_check"));
});

Deno.test("zero in a compose health check means the default, as in Docker", async () => {
  const file = (values: string) =>
    `services: { a: { command: sleep 1, build: ., healthcheck: { test: "true", ${values} } } }\n`;
  const check = async (values: string) => {
    const { yaml } = await made({ "compose.yaml": file(values), Dockerfile: "FROM x\n" });
    return (await loadedFrom("procsup.yaml", yaml)).get("a")!.healthCheck;
  };
  assertEquals(
    await check("interval: 0s, timeout: 0, retries: 0"),
    await check("start_period: 0s"),
  );
});

Deno.test("a converted file names services that became no process, with their lines", async () => {
  const text =
    "services:\n  a: { build: . }\n  b: { image: me/own }\n  c: { image: x, command: run }\n";
  const { yaml } = await made({ "compose.yml": text });
  const [head] = yaml.split("version:");
  assertMatch(head!, /# not converted: a: .*Dockerfile does not exist.*\(compose\.yml:2\)/);
  assertMatch(head!, /# not converted: b: image me\/own.*\(compose\.yml:3\)/);
  assert(!head!.includes("# not converted: c: "));
});

Deno.test("compose's resource limits become limits, or flags of docker run", async () => {
  const limits = "{ memory: 512m, cpus: '0.5', pids: 20 }";
  const services = (...keys: string[]) => ({
    "compose.yml": `services: { a: { image: mine, command: run, ${keys.join(", ")} } }\n`,
  });
  const deployed = services(`deploy: { resources: { limits: ${limits}, reservations: {} } }`);
  const own = services("mem_limit: 512m, cpus: 0.5, pids_limit: 20");
  for (const files of [deployed, own]) {
    const { yaml } = await made(files);
    assertMatch(yaml, /limits:\n +memory: 512MB\n +cpu_percent: 50\n +pids: 20\n/);
  }
  const { notes } = await made(deployed);
  assertEquals(notes.filter((text) => text.includes("resources")), [
    "a: deploy.resources.reservations: procsup has no counterpart: check that it works without",
  ]);
  const docker = (await made(deployed, undefined, { withDocker: true })).yaml;
  assertMatch(docker, /- --memory\n +- 512m\n +- --cpus\n +- "0.5"\n +- --pids-limit\n/);
  assert(!docker.includes("limits:"));
});

Deno.test("values that compose fills in or drops by itself are named", async () => {
  const { notes } = await made({
    "compose.yml":
      "services:\n  a:\n    image: mine\n    command: run $${B:+c}\n    mem_limit: ${MEM}\n" +
      "    environment: { E: '${X:+alt}' }\n    env_file: [{ path: x.env, required: false }]\n",
  });
  for (const part of ["mem_limit ${MEM}: it is not set", "environment ${NAME:+text}"]) {
    assert(notes.some((note) => note.includes(part)), part);
  }
});

Deno.test("process-compose's schedules become those of jobs, and what has no counterpart is named", async () => {
  const app = (name: string, schedule: string) =>
    `  ${name}: { command: run, schedule: { ${schedule} } }\n`;
  const text = "processes:\n" + [
    app("nightly", 'cron: "0 2 * * *", timezone: UTC, max_concurrent: 1'),
    app("often", "interval: 30m, run_on_start: true"),
    app("hourly", "interval: 60m, run_on_start: false"),
    app("seconds", "interval: 15s, max_concurrent: 2"),
    app("odd", "interval: 7m"),
    '  kept: { command: run, schedule: { cron: "", interval: 5m }, availability: { restart: always } }\n',
  ].join("");
  const { yaml, notes } = await made({ "process-compose.yaml": text });
  const apps = await loadedFrom("procsup.yaml", yaml);
  const schedules = [...apps.values()].map(({ name, cron }) => [name, cron?.schedule]);
  assertEquals(schedules, [
    ["nightly", "0 2 * * *"],
    ["often", "@every 30m"],
    ["hourly", "@every 60m"],
    ["seconds", "@every 15s"],
    ["odd", "@every 7m"],
    ["kept", "@every 5m"],
  ]);
  assertEquals(apps.get("nightly")!.cron?.timezone, "UTC");
  assertEquals(notes.map((note) => note.split(":")[1]!.trim()), [
    "schedule.run_on_start",
    "schedule.max_concurrent",
    "availability.restart",
  ]);
});

Deno.test("systemd's endless limits, and spans that end in seconds, keep their meaning", async () => {
  const unit = "[Service]\nExecStart=/bin/app\nKillSignal=RTMIN+3\nTimeoutStopSec=5min 20\n";
  for (const endless of ["0", "infinity"]) {
    const { yaml, notes } = await made({ "app.service": `${unit}RuntimeMaxSec=${endless}\n` });
    const app = (await loadedFrom("procsup.yaml", yaml)).get("app")!;
    assertEquals([app.maxAgeMs, app.stopTimeoutMs], [undefined, 320_000]);
    assertEquals(notes.map((note) => note.split(":")[1]!.trim()), ["KillSignal=RTMIN+3"]);
  }
});

Deno.test("compose and process-compose restart without a limit by default", async () => {
  const unlimited = /restart_window: 1ms/;
  const compose = (restart: string) =>
    made({
      "compose.yml": `services: { a: { image: mine, command: run, restart: ${restart} } }\n`,
    });
  assertMatch((await compose("always")).yaml, unlimited);
  assertMatch((await compose("on-failure")).yaml, unlimited);
  assert(!unlimited.test((await compose("'on-failure:5'")).yaml));
  const process = (availability: string) =>
    made({
      "process-compose.yaml": `processes: { a: { command: run, availability: ${availability} } }\n`,
    });
  const { yaml } = await process("{ restart: always, max_restarts: 0 }");
  assertMatch(yaml, unlimited);
  assertMatch(yaml, /restart_delay: 1s\n +backoff_max: 1s/);
  assert(!unlimited.test((await process("{ restart: on_failure, max_restarts: 3 }")).yaml));
});

Deno.test("process-compose's commands run under its shell where /bin/sh may read them differently", async () => {
  const processOf = async (process: string, file = "") => {
    const text = `${file}processes: { a: { ${process} } }\n`;
    const [config] = (await loadedFrom("process-compose.yaml", text)).values();
    return config!;
  };
  const run = async (command: string, file?: string) => {
    const { entrypoint, args } = await processOf(`command: ${JSON.stringify(command)}`, file);
    return [entrypoint, ...args];
  };
  for (const plain of ["a | b > c 2>&1", "cd a && exec b $$A", 'echo "$$(date)" < d; e']) {
    const [shell, option] = await run(plain);
    assertEquals([shell, option], ["/bin/sh", "-c"], plain);
  }
  for (const own of ["[[ $$A == b* ]]", "source x", "diff <(a) <(b)", "a &> b", "ls {a,b}"]) {
    assertEquals(await run(own), ["bash", "-c", own.replace("$$", "$")]);
  }
  assertEquals((await run("[[ a ]]", "shell: { shell_command: dash }\n"))[0], "/bin/sh");
  const python = "shell: { shell_command: python3, shell_argument: -c }\n";
  assertEquals(await run("print(1)", python), ["python3", "-c", "print(1)"]);
  const probe = "readiness_probe: { exec: { command: '[[ $$A ]]' } }";
  const probed = await processOf(`command: run, ${probe}, shutdown: { command: "[[ b ]]" }`);
  assertEquals(probed.healthCheck?.command, "bash -c '[[ $A ]]'");
  assertEquals(probed.hooks.preStop?.command, "bash -c '[[ b ]]'");
  const words = await processOf('entrypoint: [run, "$$A", "${B:-c}"]');
  assertEquals([words.entrypoint, ...words.args], ["run", "$A", "c"]);
});

Deno.test("process-compose's .env applies to every process that does not opt out", async () => {
  const text = "processes:\n  a: { command: x, env_file: [b.env] }\n  b: { command: x }\n" +
    "  c: { command: x, is_dotenv_disabled: true }\n";
  const files = { "process-compose.yaml": text, ".env": "A=1\n", "b.env": "B=1\n" };
  await using folder = new Files(files);
  const { processes, notes } = await folder.load(["process-compose.yaml"]);
  const names = (path: unknown) => String(path).slice(folder.folder.length + 1);
  assertEquals(processes.map(({ config }) => config.envFile.map(names)), [
    [".env", "b.env"],
    [".env"],
    [],
  ]);
  assertEquals(notes, []);
});

Deno.test("a supervisord log without a size limit is named, because procsup rotates every log", async () => {
  const notesOf = async (file: string) =>
    (await made({
      "s.conf": `[program:a]\ncommand=run\nstdout_logfile=${file}\nstdout_logfile_maxbytes=0\n`,
    })).notes.filter((note) => note.includes("maxbytes"));
  assertEquals(await notesOf("a.log"), [
    "a: stdout_logfile_maxbytes: every log is rotated, at log.max_size",
  ]);
  assertEquals(await notesOf("/dev/stdout"), []);
});

Deno.test("a key that no table has is named as such, whatever it is called", async () => {
  const files: [string, string][] = [
    ["x.service", "[Service]\nExecStart=/bin/x\nconstructor=1\n"],
    ["s.conf", "[program:x]\ncommand=/bin/x\nconstructor=1\n"],
    ["ecosystem.json", '{ "apps": [{ "name": "x", "script": "x", "constructor": 1 }] }'],
    ["process-compose.yaml", "processes: { x: { command: x, constructor: 1 } }\n"],
    ["compose.yml", "services: { x: { build: ., command: x, constructor: 1 } }\n"],
  ];
  for (const [name, text] of files) {
    const { notes } = await made({ [name]: text });
    assertMatch(
      notes.join("\n"),
      /^x: constructor(=1)?: procsup has no counterpart: check that it works without$/m,
      name,
    );
  }
});

Deno.test("a setting that a systemd unit resets is not lost, nor is a stream with that of another", async () => {
  const { notes } = await made({
    "x.service": "[Service]\nExecStart=/bin/x\nExecStop=/bin/y\nExecStop=\nSlice=\n" +
      "StandardOutput=append:/var/log/x.log\nStandardError=inherit\n",
  });
  assertEquals(notes, []);
});

Deno.test("a supervisord log that is not safe is named with the reason", async () => {
  const text = "[program:x]\ncommand=/bin/x\nstdout_logfile=/tmp/x.log\n";
  const { notes: [note] } = await made({ "s.conf": text });
  assertStringIncludes(
    note!,
    "stdout_logfile: procsup logs shows what the app writes; a log there",
  );
});

Deno.test("process-compose's vars are filled in, a process's own before those of the file", async () => {
  const text = `vars: { NAME: shop, PORT: 80 }
processes:
  a: { command: "run {{ .NAME }} {{.PORT}}", vars: { PORT: 81 } }
  b: { command: run, environment: ["N={{.NAME}}"], log_location: "{{.NAME}}.log" }
  c: { command: "run {{.GONE}}" }
`;
  const { yaml, notes } = await made({ "process-compose.yaml": text });
  for (const line of ["command: run shop 81", "N: shop", "stdout: shop.log"]) {
    assertStringIncludes(yaml, line);
  }
  assertEquals(notes, ["c: {{…}}: only variables in vars are filled in"]);
});

Deno.test("a Procfile's first port is PORT of .env, otherwise of the environment, otherwise 5000", async () => {
  const ports = async (dotenv: string, env: Record<string, string>, assumeVariables = false) => {
    await using files = new Files({ Procfile: "web: a\nworker: b\n", ".env": dotenv });
    const options = { env, assumeVariables };
    const { processes, variables, unset } = await files.load(["Procfile"], options);
    const [first, second] = processes.map(({ config }) => config.env.PORT);
    return [first, second, variables, unset];
  };
  assertEquals(await ports("", {}), ["5000", "5100", {}, ["PORT"]]);
  // The daemon has another environment: it gets the values that the command used.
  assertEquals(await ports("", { PORT: "8080" }), ["8080", "8180", { PORT: "8080" }, []]);
  assertEquals(await ports("PORT=3000\n", { PORT: "8080" }), ["3000", "3100", {}, []]);
  // For another machine, as in an export, this environment says nothing.
  assertEquals((await ports("", { PORT: "8080" }, true)).slice(0, 2), ["5000", "5100"]);
});

Deno.test("what process-compose holds besides known keys is named by its whole path", async () => {
  const probe = "{ exec: { command: a, working_dir: b } }";
  const { yaml, notes } = await made({
    "process-compose.yaml": `processes:
  a: { command: a, liveness_probe: ${probe}, depends_on: { b: } }
  b: { command: b, readiness_probe: ${probe} }
  c:
`,
  });
  assertEquals(notes, [
    "a: liveness_probe.exec.working_dir: procsup has no counterpart: check that it works without",
    "b: readiness_probe.exec.working_dir: procsup has no counterpart: check that it works without",
    "c: expected a map",
  ]);
  assertMatch(yaml, /depends_on:\n +b: completed\n/);
});

Deno.test("PM2's keys have the same meaning in any order", async () => {
  const keys = [
    ...['"autorestart": false', '"stop_exit_codes": [3]'],
    ...['"restart_delay": 10', '"exp_backoff_restart_delay": 20'],
  ];
  for (const ordered of [keys, keys.toReversed()]) {
    const text = `{ "apps": [{ "name": "x", "script": "x", ${ordered.join(", ")} }] }`;
    const { yaml } = await made({ "ecosystem.json": text });
    assertStringIncludes(yaml, "restart_policy: never");
    assertStringIncludes(yaml, "restart_delay: 20ms");
    assert(!yaml.includes("backoff_max"));
  }
});

Deno.test("docker run gets the ports and volumes of a service as they are meant", async () => {
  const { yaml, notes } = await made(
    {
      "compose.yml": `services:
  a:
    image: mine
    ports:
      - "8080:90"
      - { target: 80 }
      - { host_ip: 127.0.0.1, published: 81, target: 80 }
      - { target: 53, published: 53, protocol: udp }
    volumes:
      - ~/data:/data
      - { type: bind, source: /etc/a, target: /a, read_only: true }
      - { type: volume, target: /cache }
`,
    },
    undefined,
    { withDocker: true },
  );
  const flags = [...yaml.matchAll(/- -([pv])\n +- (.*)/g)].map(([, flag, value]) => [flag, value]);
  assertEquals(flags, [
    ...[["p", "8080:90"], ["p", '"80"'], ["p", "127.0.0.1:81:80"], ["p", "53:53/udp"]],
    ...[["v", "${HOME}/data:/data"], ["v", "/etc/a:/a:ro"], ["v", "/cache"]],
  ]);
  assertEquals(notes.filter((note) => /ports|volumes/.test(note)), []);
});

Deno.test("a service that is no map, and the user of one that runs here, are named", async () => {
  const { yaml, notes } = await made({
    "compose.yml": "services:\n  a:\n  b:\n    image: mine\n    command: run\n    user: www\n" +
      "    volumes: [~/src:/app]\n    working_dir: /app\n",
  });
  assert(notes.includes("a: expected a map"));
  assert(notes.includes("b: user www: uid, if it exists here"));
  assertStringIncludes(yaml, "cwd: ${HOME}/src\n");
});

Deno.test("a restart policy of systemd that procsup lacks becomes the nearest, and is named", async () => {
  for (const [policy, nearest] of [["on-abort", "on-failure"], ["on-success", "always"]]) {
    const unit = `[Service]\nExecStart=/bin/x\nRestart=${policy}\n`;
    const { yaml, notes } = await made({ "x.service": unit });
    assertStringIncludes(yaml, `restart_policy: ${nearest}`);
    assertEquals(notes, [`x: Restart=${policy}: ${nearest} is the nearest`]);
  }
});

Deno.test("a mistake in a unit file has its place, and a comment has no second line", async () => {
  const { yaml } = await made({
    "x.service": "[Service]\n# not \\\nExecStart=/bin/x \\\n# between\n  --y\n",
  });
  assertStringIncludes(yaml, "args:\n      - --y\n");
  const wrong = made({ "x.service": "[Service]\nExecStart=/bin/x \\\n  --y\nnothing\n" });
  await assertRejects(() => wrong, ProcsupError, "x.service:4:1: not a unit file");
});

Deno.test("a container has the input and terminal of its service, and one copy of its name", async () => {
  const text =
    "services:\n  a:\n    image: mine\n    stdin_open: true\n    tty: true\n    scale: 2\n";
  const { yaml, notes } = await made({ "compose.yml": text }, undefined, { withDocker: true });
  assertMatch(yaml, /- --interactive\n +- --tty\n/);
  assert(!yaml.includes("instances:"));
  assert(notes.includes("a: replicas 2: one, because containers cannot share a name"));
});

Deno.test("a service whose own command is docker runs in no container", async () => {
  const { yaml } = await made({
    "compose.yml": "services:\n  a:\n    image: mine\n    command: docker events\n" +
      "    mem_limit: 1g\n    healthcheck: { test: check }\n",
  });
  assertMatch(yaml, /limits:\n +memory: 1GB\n/);
  assert(!yaml.includes("docker exec"));
});

Deno.test("a compose file without a service that can run names why, and nothing else", async () => {
  const reasons: [string, string][] = [
    [
      "services: { a: { image: redis } }\nsecrets: {}\n",
      '"a" cannot run without a container: image redis: apt-get',
    ],
    ["services: {}\n", "services: expected a map of names"],
  ];
  for (const [text, reason] of reasons) {
    const error = await assertRejects(() => made({ "compose.yml": text }), ProcsupError);
    assertStringIncludes(error.message, reason);
    assert(!/undefined|secrets/.test(error.message), error.message);
  }
});
