/** What keys of other tools' files mean, compared with what the other tool does. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { offerTools } from "../../config/tools.ts";
import { TOOLS } from "../mod.ts";
import { importFile } from "../import_file.ts";
import { noteLines } from "../../config/problem.ts";
import { ProcsupError } from "../../model/errors.ts";
import { Files, findings } from "../../../tests/config/files.ts";

offerTools(TOOLS);

const ENV = { PATH: "/usr/bin:/bin", HOME: "/home/me" };

interface Options {
  readonly tool?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly withDocker?: boolean;
}

/** Imports the first file, and loads what was written. Paths are without the folder. */
async function imported(
  files: Readonly<Record<string, string>>,
  { env, ...options }: Options = {},
) {
  await using folder = new Files(files);
  const [name] = Object.keys(files);
  const given = { ...options, env: { ...ENV, ...env }, findings };
  const { yaml, notes } = await importFile(`${folder.folder}/${name}`, given);
  folder.write("procsup.yaml", yaml);
  const { processes } = await folder.load(["procsup.yaml"], { env: { ...ENV, ...env } });
  const short = (text: string) => text.replaceAll(folder.folder, "");
  const configs = new Map(
    processes.map(({ config }) => [config.name, JSON.parse(short(JSON.stringify(config)))]),
  );
  return {
    yaml,
    only: [...configs.values()][0],
    configs,
    notes: notes.map(({ process, text, place }) =>
      short(`${process ?? "-"}:${place?.line ?? "-"}: ${text}`)
    ),
    lines: noteLines(notes, false),
  };
}

const argv = (
  { entrypoint, args }: { entrypoint: string; args: string[] },
) => [entrypoint, ...args];

Deno.test("a program is that of the working directory, and a bare word is one on PATH", async () => {
  const script = { "run.sh": "beside", "api/run.sh": "inside", "sleep": "beside" };
  const process = "processes:\n  a: { command: ./run.sh x, working_dir: ./api }\n" +
    "  b: { command: sleep 1, working_dir: ./api }\n";
  const { configs } = await imported({ "process-compose.yaml": process, ...script });
  assertEquals(argv(configs.get("a")), ["/api/run.sh", "x"]);
  assertEquals(argv(configs.get("b")).slice(-2), ["sleep", "1"]);
  assert(!configs.get("b").entrypoint.endsWith("/sleep"), "a file beside the configuration");
  const ini = await imported({
    "s.conf": "[program:a]\ncommand=./run.sh\ndirectory=api\n",
    ...script,
  });
  assertEquals(argv(ini.only), ["/api/run.sh"]);
  const compose = "services: { a: { build: api, entrypoint: [./run.sh, x] } }\n";
  const built = await imported({ "compose.yml": compose, "api/Dockerfile": "FROM x\n", ...script });
  assertEquals(argv(built.only), ["/api/run.sh", "x"]);
});

Deno.test("variables of compose in keys without variables have their value or default, with a note", async () => {
  const text = `services:
  a:
    image: mine
    command: run
    restart: \${POLICY:-always}
    stop_grace_period: \${GRACE:-7s}
    scale: \${COUNT:-3}
    healthcheck: { test: check, interval: "\${EVERY:-4s}" }
    mem_limit: \${MEM:-\${BASE:-1g}}
`;
  const { only, notes } = await imported({ "compose.yml": text }, { env: { COUNT: "2" } });
  assertEquals([only.restartPolicy, only.instances, only.stopTimeoutMs], ["always", 2, 7000]);
  assertEquals([only.healthCheck.intervalMs, only.limits.memoryBytes], [4000, 1 << 30]);
  for (
    const note of ["a:5: restart", "a:6: stop_grace", "a:7: scale", "a:8: healthcheck.interval"]
  ) {
    assert(notes.some((one) => one.startsWith(note) && one.includes("written as")), note);
  }
});

Deno.test("variables of process-compose and supervisord in such keys have theirs", async () => {
  const process = await imported({
    "process-compose.yaml": "processes:\n  a:\n    command: run\n    replicas: ${N:-2}\n" +
      "    availability: { restart: '${R:-always}', backoff_seconds: '${B:-3}' }\n",
  });
  const { instances, restartPolicy, restartDelayMs } = process.only;
  assertEquals([instances, restartPolicy, restartDelayMs], [2, "always", 3000]);
  assertEquals(process.notes.length, 3);
  const ini = "[program:a]\ncommand=/bin/true\nautostart=%(ENV_AUTO)s\nuser=%(ENV_WHO)s\n";
  const program = await imported({ "s.conf": ini }, { env: { AUTO: "false", WHO: "root" } });
  assertEquals([program.only.autostart, program.only.uid], [false, "root"]);
  assertMatch(program.notes.join("\n"), /a:3: autostart %\(ENV_AUTO\)s: written as "false"/);
});

Deno.test("a command is filled in, then split; in quotes it stays one word", async () => {
  const text = "services: { a: { image: x, command: \"${C:-npm run start} --x '${D:-a b}'\" } }\n";
  const { only } = await imported({ "compose.yml": text });
  const shell = new Deno.Command("/bin/sh", {
    args: only.args.map((arg: string) => arg.replace("exec ", "printf '<%s>' ")),
  });
  const { stdout } = shell.outputSync();
  assertEquals(new TextDecoder().decode(stdout), "<npm><run><start><--x><a b>");
});

Deno.test("scale 0 and profiles of compose keep a service off", async () => {
  const text = "services:\n  none: { image: x, command: run, scale: 0 }\n" +
    "  zero: { image: x, command: run, deploy: { replicas: 0 } }\n" +
    "  seed: { image: x, command: run, profiles: [seed] }\n";
  const { configs, yaml, notes } = await imported({ "compose.yml": text });
  assertEquals([...configs.values()].map(({ autostart }) => autostart), [false, false, false]);
  assertMatch(yaml, /profiles:\n +seed:\n +processes:\n +seed:\n +autostart: true/);
  assertMatch(notes.join("\n"), /none:2: scale 0: none runs until procsup start/);
});

Deno.test("a build has its own Dockerfile: inline, by variables, with its SHELL, or of a repository", async () => {
  const services = (build: string, more = "") =>
    `services: { a: { build: ${build}${more}, restart: "no" } }\n`;
  const files = { "Dockerfile": "FROM x\nCMD [wrong]\n", "d.dev": "FROM x\nCMD dev\n" };
  const one = async (text: string, more = {}) =>
    argv((await imported({ "compose.yml": text, ...files, ...more })).only);
  assertEquals(await one(services('{ dockerfile_inline: "FROM x\\nCMD [\\"own\\", \\"1\\"]" }')), [
    ...["own", "1"],
  ]);
  assertEquals(await one(services('{ context: "${CTX:-.}", dockerfile: "d.${E:-dev}" }')), [
    ...["/bin/sh", "-c", "dev"],
  ]);
  const bash = { "Dockerfile": 'FROM x\nSHELL ["/bin/bash", "-ec"]\nENTRYPOINT run\nCMD [a]\n' };
  assertEquals(await one(services("."), bash), ["/bin/bash", "-ec", "run", "a"]);
  const both = { "Dockerfile": 'FROM x\nCMD ["c"]\nENTRYPOINT ["e"]\n' };
  assertEquals(await one(services("."), both), ["e", "c"]);
  assertEquals(await one(services(".", ", entrypoint: []"), both), ["c"]);
  const git = services("https://github.com/a/b.git", ", command: run");
  const cloned = await imported({ "compose.yml": git });
  assertMatch(cloned.notes.join("\n"), /a:1: build: build https.*its Dockerfile is not on this/);
});

Deno.test("compose's extends, include and override are read, with paths of their own folders", async () => {
  const { configs, notes } = await imported({
    "compose.yml": "include: [more/compose.yml]\nservices:\n" +
      "  base: { image: x, command: base, environment: { A: 1, B: 1 } }\n" +
      "  web:\n    extends: base\n    command: web\n    environment: [B=2]\n" +
      "  far: { extends: { file: more/far.yml, service: far }, restart: always }\n" +
      "  only: { command: run it }\n",
    "compose.override.yml": "services: { web: { environment: { C: 3 } } }\n",
    "more/compose.yml": "services: { inc: { image: y, command: inc, env_file: ./inc.env } }\n",
    "more/far.yml": "services: { far: { build: ., image: z, env_file: far.env } }\n",
    "more/inc.env": "I=1\n",
    "more/far.env": "F=1\n",
    "more/Dockerfile": 'FROM x\nCMD ["far"]\n',
  });
  assertEquals(configs.get("web").env, { A: "1", B: "2", C: "3" });
  assertEquals(argv(configs.get("web")), ["web"]);
  assertEquals(argv(configs.get("only")), ["run", "it"]);
  assertEquals([configs.get("inc").envFile, configs.get("far").envFile], [
    ["/more/inc.env"],
    ["/more/far.env"],
  ]);
  assertEquals([argv(configs.get("far")), configs.get("far").cwd], [["far"], "/more"]);
  assert(!notes.some((note) => note.includes("no build")), notes.join("\n"));
});

Deno.test("paths of a pm2 app are relative to its cwd, and ~ is the user's folder", async () => {
  const app = {
    ...{ name: "a", script: "run.js", cwd: "api", out_file: "./o.log", error_file: "~/e.log" },
    ...{ watch: ["src"], treekill: false, log_file: "all.log", node_args: "-r ./pre.js" },
  };
  const { only, notes } = await imported({
    "ecosystem.json": `{ "apps": [\n${JSON.stringify(app)}] }`,
    "api/run.js": "",
    "run.js": "",
    "api/src/x": "",
    "src/x": "",
  });
  assertEquals([only.log.stdout, only.log.stderr], ["/api/o.log", "/home/me/e.log"]);
  assertEquals([only.watch.paths, only.stopMode], [["/api/src"], "leave"]);
  assertEquals([argv(only), only.cwd], [["node", "-r", "./pre.js", "run.js"], "/api"]);
  assertMatch(notes.join("\n"), /a:2: log_file: procsup logs shows both/);
});

Deno.test("the static servers of pm2 are those of procsup", async () => {
  const { configs } = await imported({
    "ecosystem.json": '{ "apps": [], "static": [{ "path": "./dist", "port": 3000, "spa": true }] }',
  });
  assertEquals(configs.get("static-page-server-3000").args, [
    ...["serve-files", "./dist", "--port", "3000", "--spa"],
  ]);
});

Deno.test("defaults of a pm2 program's variables stay defaults, and what is fixed is told", async () => {
  const { yaml, notes } = await imported({
    "ecosystem.config.js": "const e = process.env;\nmodule.exports = { apps: [{\n  name: 'a',\n" +
      "  script: 'a.js',\n  args: ['--port', e.PORT || 3000],\n  cwd: e.DIR || '/srv',\n" +
      "  instances: parseInt(e.COUNT) || 2,\n}] };",
  });
  assertMatch(yaml, /args:\n +- --port\n +- \$\{PORT:-3000\}\n +cwd: \$\{DIR:-\/srv\}/);
  assertMatch(yaml, /instances: 2/);
  assertEquals(notes.filter((note) => note.includes("instances:")), [
    "a:-: instances: written as 2; the program takes it from its environment",
  ]);
});

Deno.test("pm2's dump has no variables of the shell and of PM2, and keeps its logs and servers", async () => {
  const env = {
    ...{ PATH: "/bin", EDITOR: "vi", SAME: "x", OTHER: "old", io: "{}", km_link: "false" },
    ...{ PM2_HOME: "/root/.pm2", unique_id: "1", web: "{}" },
  };
  const entry = {
    ...{ name: "web", pm_exec_path: "/srv/a.js", pm_cwd: "/srv", exec_interpreter: "none" },
    ...{ pm_out_log_path: "/srv/o-0.log", pm_err_log_path: "/root/.pm2/logs/web-error.log", env },
  };
  const served = {
    ...{ name: "s", pm_exec_path: "/usr/lib/node_modules/pm2/lib/API/Serve.js", pm_cwd: "/srv" },
    ...{ exec_interpreter: "node", env: { PM2_SERVE_PORT: 8081, PM2_SERVE_PATH: "/www" } },
  };
  await using files = new Files({ "dump.pm2": JSON.stringify([entry, served]) });
  const options = { env: { ...ENV, SAME: "x", OTHER: "new" }, findings };
  const { yaml, hasRelativePaths } = await importFile(`${files.folder}/dump.pm2`, options);
  files.write("procsup.yaml", yaml);
  const { processes: [web, serve] } = await files.load(["procsup.yaml"]);
  assertEquals(web!.config.env, { OTHER: "old" });
  assertEquals(web!.config.log.stdout, "/srv/o.log");
  assertEquals(web!.config.log.stderr, undefined);
  assertEquals(serve!.config.args, ["serve-files", "/www", "--port", "8081"]);
  assertEquals(hasRelativePaths, false);
});

Deno.test("process-compose fills in a command, counts replicas, and kills nothing by default", async () => {
  const text = `processes:
  a:
    command: 'run \${VERSION} $$PC_REPLICA_NUM'
    entrypoint: [other]
    working_dir: ./sub
    env_file: own.env
    replicas: 2
  b: { command: run, shutdown: { parent_only: true, timeout_seconds: 3 } }
`;
  const files = { "process-compose.yaml": text, "sub/own.env": "A=1\n" };
  const { configs, notes } = await imported(files, { env: { VERSION: "7" } });
  const a = configs.get("a");
  assertEquals(argv(a), ["bash", "-c", "run 7 $PC_REPLICA_NUM"]);
  assertEquals([a.envFile, a.incrementEnv, a.env], [
    ["/sub/own.env"],
    ["PC_REPLICA_NUM"],
    { PC_REPLICA_NUM: "0" },
  ]);
  assertEquals(a.stopTimeoutMs, 8760 * 3_600_000);
  assertEquals([configs.get("b").stopMode, configs.get("b").stopTimeoutMs], ["leave", 3000]);
  assertEquals(notes, ["a:4: entrypoint: command wins"]);
});

Deno.test("process-compose's extends, watch and env_cmds are converted", async () => {
  const text = `env_cmds: { NOW: date }
processes:
  base: { command: run, environment: [A=1] }
  own: { extends: base, environment: [B=2], working_dir: w, watch: { paths: [{ path: src }] } }
`;
  const { configs } = await imported({ "process-compose.yaml": text, "w/src/x": "" });
  const own = configs.get("own");
  assertEquals([own.entrypoint, own.env, own.watch.paths], ["run", { A: "1", B: "2" }, ["/w/src"]]);
  assertEquals(own.secrets.NOW.command, "date");
});

Deno.test("supervisord signals the main process, and its own user and folder are those of programs", async () => {
  const program = (name: string, more: string) => `[program:${name}]\ncommand=/bin/true\n${more}\n`;
  const { configs, notes } = await imported({
    "s.conf": "[supervisord]\nuser=root\numask=027\ndirectory=/srv\nminfds=9\n" +
      program("a", "") + program("b", "stopasgroup=true\ndirectory=/own") +
      program("c", "killasgroup=true"),
  });
  assertEquals(["a", "b", "c"].map((name) => configs.get(name).stopMode), [
    "leave",
    "group",
    "main",
  ]);
  const { uid, umask, cwd } = configs.get("a");
  assertEquals([uid, umask, cwd, configs.get("b").cwd], ["root", "027", "/srv", "/own"]);
  assertEquals(notes, ["-:5: [supervisord]: minfds: limits.nofile of each process"]);
});

Deno.test("a service of systemd has its drop-ins, its time to start, and is off without [Install]", async () => {
  const unit = "[Unit]\nOnFailure=mail@%n.service\n[Service]\nExecStart=/bin/date +%%F\n" +
    "ExecStartPre=+/bin/prepare\nKillMode=mixed\nEnvironmentFile=-/etc/default/a\n";
  const files = {
    "a.service": unit,
    "a.service.d/10-over.conf": "[Service]\nRestart=always\nExecStart=\nExecStart=/bin/date %%d\n",
  };
  const { only, notes } = await imported(files);
  assertEquals([argv(only), only.restartPolicy, only.autostart], [
    ["/bin/date", "%d"],
    "always",
    false,
  ]);
  assertEquals([only.hooks.preStart.timeoutMs, only.hooks.preStart.runAsRoot], [90_000, true]);
  assertEquals(only.envFile, [{ path: "/etc/default/a", required: false }]);
  assertEquals(only.stopMode, "main");
  assertEquals(notes.map((note) => note.split(":").slice(0, 3).join(":")), [
    "a:2: OnFailure=mail@a.service.service",
  ]);
  const once = unit.replace("[Service]\n", "[Service]\nType=oneshot\n") + "[Install]\nWantedBy=x\n";
  const job = (await imported({ "a.service": once })).only;
  assertEquals([job.hooks.preStart.timeoutMs, job.autostart], [8760 * 3_600_000, true]);
});

Deno.test("a timer of systemd makes its service a job, or is told", async () => {
  const service = "[Service]\nType=oneshot\nExecStart=/bin/true\n";
  const job = async (timer: string, first = "a.service") => {
    const files = { "a.service": service, "a.timer": `[Timer]\n${timer}\n` };
    const { only, notes } = await imported(Object.fromEntries(
      Object.entries(files).sort(([name]) => name === first ? -1 : 1),
    ));
    return { cron: only.cron, schedule: only.cron?.schedule, autostart: only.autostart, notes };
  };
  const schedules: Record<string, string> = {
    "OnCalendar=daily": "0 0 * * *",
    "OnCalendar=Mon..Fri *-*-* 02:30": "30 2 * * 1-5",
    "OnCalendar=*:0/15": "*/15 * * * *",
    "OnCalendar=Sat,Sun 10:00": "0 10 * * 6,0",
    "OnCalendar=*-*-01 06:00:30": "30 0 6 1 * *",
    "OnCalendar=quarterly": "0 0 1 1,4,7,10 *",
    "OnUnitActiveSec=30min": "@every 30m",
    "OnUnitActiveSec=1d": "@every 24h",
  };
  for (const [timer, schedule] of Object.entries(schedules)) {
    assertEquals((await job(timer)).schedule, schedule, timer);
  }
  assertEquals((await job("OnCalendar=hourly", "a.timer")).schedule, "0 * * * *");
  for (const none of ["2030-01-01 00:00", "Mon *-*-01", "*-*~01", "weird"]) {
    const { schedule, autostart, notes } = await job(`OnCalendar=${none}`);
    assertEquals([schedule, autostart], [undefined, false], none);
    assertMatch(notes.join("\n"), /a:2: a\.timer OnCalendar=.*: no schedule of cron/);
  }
  const { cron, notes } = await job("OnCalendar=daily\nPersistent=true\nRandomizedDelaySec=5m");
  assertEquals([cron?.catchUp, cron?.randomDelayMs, notes], ["once", 300_000, []]);
  const alone = () => imported({ "b.timer": "[Timer]\nOnCalendar=daily\n" });
  await assertRejects(alone, ProcsupError, "it starts b.service, which is not beside it");
});

Deno.test("a wrong schedule is refused with its line, and one log for two apps is separated", async () => {
  const wrong = "module.exports = { apps: [{\n  name: 'a', script: 'a.js',\n" +
    "  autorestart: false, cron_restart: '61 * * * *' }] };";
  const refused = () => imported({ "ecosystem.config.js": wrong });
  const error = await assertRejects(refused, ProcsupError);
  assertMatch(error.message, /ecosystem\.config\.js:3:\d+: "a": cron_restart: .*61/);
  const program = (name: string) =>
    `[program:${name}]\ncommand=/bin/true\nstdout_logfile=one.log\n`;
  const { configs, notes } = await imported({ "s.conf": program("a") + program("b") });
  assertEquals([...configs.values()].map(({ log }) => log.stdout), [
    "/one-{name}.log",
    "/one-{name}.log",
  ]);
  assertMatch(notes.join("\n"), /a:1: log one\.log: one file for a, b became one-\{name\}\.log/);
});

Deno.test("ecosystem files in JSON5, in TypeScript, and with packages from node_modules are read", async () => {
  const json5 = "{ // PM2\n  apps: [{ name: 'a', script: 'a.js', }],\n}";
  assertEquals((await imported({ "ecosystem.config.json5": json5 })).only.name, "a");
  const typed = "const name: string = 'b'; export default { apps: [{ name, script: 'b.js' }] };";
  assertEquals((await imported({ "ecosystem.ts": typed })).only.name, "b");
  const module = 'import path from "path"; import { port } from "ports";\n' +
    "export default { apps: [{ name: 'c', script: path.join('.', 'c.js'), env: { PORT: port } }] };";
  const { only } = await imported({
    "ecosystem.config.mjs": module,
    "node_modules/ports/package.json": '{ "name": "ports", "version": "1.0.0", "main": "p.js" }',
    "node_modules/ports/p.js": "exports.port = 80;",
  });
  assertEquals(only.env, { PORT: "80" });
});

Deno.test("refusals are in the words of the file, with its line, one a line", async () => {
  const messages = async (files: Record<string, string>) => {
    const error = await assertRejects(() => imported(files), ProcsupError);
    const { problems = [error] } = error as { problems?: readonly Error[] };
    return problems.map(({ message }) => message.replace(/^\/[^:]*\//, ""));
  };
  assertEquals(await messages({ "compose.yml": "services:\n  db: { image: redis }\n  x: {}\n" }), [
    'compose.yml:2:3: "db" cannot run without a container: image redis: apt-get install ' +
    "redis-server, or import --with-docker",
    'compose.yml:3:3: "x" cannot run without a container: it has no build, image or command',
    "compose.yml: no service can run without a container: to run images with docker run: --with-docker",
  ]);
  const wrong = "processes:\n  a:\n    command: run\n    readiness_probe:\n" +
    "      http_get: { host: a/b, scheme: ftp }\n";
  const [first] = await messages({ "process-compose.yaml": wrong });
  assertMatch(first!, /^process-compose\.yaml:4:5: "a": readiness_probe: "ftp:\/\/a\/b\/": /);
  const none = "processes:\n  a:\n    command: run\n    readiness_probe: { period_seconds: 5 }\n";
  const { notes } = await imported({ "process-compose.yaml": none });
  assertEquals(notes, [
    "a:4: readiness_probe: it has neither exec nor http_get, so it is left out",
  ]);
  const [circus] = await messages({ "s.ini": "[watcher:a]\n[circus]\n" });
  assertMatch(circus!, /circus|cmd/);
  const [unknown] = await messages({ "jobs.txt": "* * * * * x\n" });
  assertMatch(unknown!, /procsup import pm2\|.*crontab/);
});

Deno.test("a dependency on an image is named as one", async () => {
  const text = "services:\n  db: { image: postgres }\n" +
    "  web: { image: x, command: run, depends_on: [db] }\n";
  const { notes } = await imported({ "compose.yml": text });
  assertMatch(notes.join("\n"), /web:3: depends_on db: image postgres: apt-get install postgresql/);
});

Deno.test("notes are printed one a line, app by app, and all of them only with --notes", async () => {
  const services = Array.from(
    { length: 6 },
    (_, at) => `  s${at}: { image: x, command: run, networks: [a], logging: {} }\n`,
  );
  const { lines } = await imported({ "compose.yml": `services:\n${services.join("")}` });
  assertEquals(lines.length, 11);
  assertMatch(lines.at(-1)!, /^\d+ more: --notes$/);
  assertMatch(lines[1]!, /^not converted \(s0, compose\.yml:2\): /);
  const names = lines.map((line) => /\((s\d)/.exec(line)?.[1]).filter(Boolean);
  assertEquals(names, names.toSorted());
});
