/** Conversion of crontabs and of the files of mprocs, circus, pup, foreman and overmind. */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { offerTools } from "../../config/tools.ts";
import { TOOL_NAMES, TOOLS } from "../mod.ts";
import { importFile } from "../import_file.ts";
import { discover, isConfigName } from "../../config/file_kind.ts";
import { ProcsupError } from "../../model/errors.ts";
import { candidates } from "../../cli/commands/completion.ts";
import { COMMANDS } from "../../cli/command_table.ts";
import { Files, findings } from "../../../tests/config/files.ts";

offerTools(TOOLS);

const ENV = { PATH: "/usr/bin:/bin", HOME: "/home/me" };

/** Loads the first file directly, and what an import of it writes: both must be the same. */
async function loaded(files: Readonly<Record<string, string>>) {
  await using folder = new Files(files);
  const [name] = Object.keys(files) as [string];
  const file = `${folder.folder}/${name}`;
  const direct = await folder.load([name], { env: ENV });
  const { yaml, notes } = await importFile(file, { env: ENV, findings });
  const at = `${file.slice(0, file.lastIndexOf("/") + 1)}procsup.yaml`;
  Deno.writeTextFileSync(at, yaml);
  const written = await folder.load([at.slice(folder.folder.length + 1)], { env: ENV });
  const all = ({ processes }: typeof direct) => processes.map(({ config }) => config);
  assertEquals(all(written), all(direct));
  const short = (text: string) => text.replaceAll(folder.folder, "");
  return {
    run: direct.run,
    configs: new Map(
      all(direct).map((config) => [config.name, JSON.parse(short(JSON.stringify(config)))]),
    ),
    notes: notes.map(({ process, text, place }) =>
      `${process ?? "-"}:${place?.line ?? "-"}: ${text}`
    ),
  };
}

const argv = (
  { entrypoint, args }: { entrypoint: string; args: string[] },
) => [entrypoint, ...args];

Deno.test("a user's crontab becomes jobs in its environment", async () => {
  const { configs, notes } = await loaded({
    "crontab": `# a comment
MAILTO=me@example.com
KEY="a b"
*/5 1-6 * jan,jul mon-fri /opt/backup.sh --all
CRON_TZ=Europe/Berlin
@daily python3 -m app clean.py 50\\% \${HOME}
@reboot cd /srv && ./serve
0 0 * * * cat%one%two
`,
  });
  assertEquals([...configs.keys()], ["backup", "clean", "serve", "cat"]);
  const backup = configs.get("backup");
  assertEquals(argv(backup), ["/bin/sh", "-c", "/opt/backup.sh --all"]);
  assertEquals([backup.cron.schedule, backup.cwd], ["*/5 1-6 * jan,jul mon-fri", "/home/me"]);
  assertEquals(backup.env, {
    ...{ PATH: "/usr/bin:/bin", HOME: "/home/me", SHELL: "/bin/sh", KEY: "a b" },
  });
  assertEquals(backup.inheritEnv, ["LOGNAME", "USER", "LANG"]);
  const clean = configs.get("clean");
  assertEquals(clean.args[1], "python3 -m app clean.py 50% ${HOME}");
  assertEquals([clean.cron.schedule, clean.cron.timezone], ["@daily", "Europe/Berlin"]);
  const serve = configs.get("serve");
  assertEquals([serve.cron, serve.autostart, serve.restartPolicy], [undefined, true, "never"]);
  const { stdout } = new Deno.Command("/bin/sh", { args: configs.get("cat").args }).outputSync();
  assertEquals(new TextDecoder().decode(stdout), "one\ntwo\n");
  assertMatch(notes.join("\n"), /serve:7: @reboot: it also runs/);
  assertMatch(notes.join("\n"), /backup:4: MAILTO=me@example\.com: procsup logs/);
});

Deno.test("a system crontab has the user of each job, and a wrong line is refused with its place", async () => {
  const { configs } = await loaded({ "cron.d/app": "17 * * * * root /usr/bin/true\n" });
  const [job] = configs.values();
  assertEquals([job.uid, job.cwd, job.args[1]], ["root", "/root", "/usr/bin/true"]);
  const wrong: Record<string, RegExp> = {
    "* * * * run\n": /crontab:1:1: not a crontab/,
    "\n99 * * * * run\n": /crontab:2:1: "run": schedule: .*99/,
    "# none\n": /no job/,
  };
  for (const [text, message] of Object.entries(wrong)) {
    const error = await assertRejects(() => loaded({ crontab: text }), ProcsupError);
    assertMatch(error.message, message);
  }
});

Deno.test("processes of mprocs have a terminal, its system's values and its way to stop", async () => {
  const { configs, notes } = await loaded({
    "mprocs.yaml": `scrollback: 10
procs:
  web: npm run dev
  api:
    cmd: [node, api.js]
    cwd: <CONFIG_DIR>/api
    env: { A: 1, B: null }
    autorestart: true
    stop: { send-keys: ["<C-c>"] }
  other:
    shell: { $select: os, linux: "run a", macos: "run a", $else: x }
    autostart: false
    stop: SIGKILL
    add_path: /opt/bin
  gone: null
`,
  });
  const [web, api, other] = ["web", "api", "other"].map((name) => configs.get(name));
  assertEquals([argv(web), web.tty, web.restartPolicy], [
    ["/bin/sh", "-c", "exec npm run dev"],
    true,
    "never",
  ]);
  assertEquals([argv(api), api.cwd, api.env, api.stopSignal], [
    ["node", "api.js"],
    "/api",
    { A: "1" },
    "SIGINT",
  ]);
  assertEquals([api.restartPolicy, api.minUptimeMs], ["always", 1000]);
  assertEquals([other.args[1], other.autostart, other.stopSignal], [
    "exec run a",
    false,
    "SIGKILL",
  ]);
  assertMatch(other.env.PATH, /^\/opt\/bin:/);
  assertEquals(configs.size, 3);
  assertEquals(notes, ["api:7: env: inherit_env: it is not cleared: B"]);
});

Deno.test("watchers of circus keep their numbers, environments and sockets", async () => {
  const { configs, notes } = await loaded({
    "circus.ini": `[circus]
endpoint = tcp://127.0.0.1:5555
httpd = True
[watcher:web]
cmd = chaussette --fd $(circus.sockets.web) app
use_sockets = True
numprocesses = 3
stop_children = True
copy_env = True
priority = 5
[watcher:worker]
cmd = python work.py
args = --id $(circus.wid) --key $(circus.env.key)
numprocesses = 2
uid = 0
rlimit_nofile = 500
stop_signal = INT
respawn = False
[env]
key = common
[env:w*er]
KEY = own
[socket:web]
host = 0.0.0.0
port = 8080
[plugin:flap]
use = circus.plugins.flapping.Flapping
`,
  });
  const web = configs.get("web");
  assertEquals(argv(web), ["chaussette", "--fd", "3", "app"]);
  assertEquals([web.sockets, web.instances, web.stopMode, web.priority], [
    ["0.0.0.0:8080"],
    ...[3, "group", -5],
  ]);
  const [first, second] = ["worker-1", "worker-2"].map((name) => configs.get(name));
  assertEquals(argv(first), ["python", "work.py", "--id", "1", "--key", "own"]);
  assertEquals(second.args[2], "2");
  assertEquals([first.env, first.uid, first.limits.nofile], [{ KEY: "own" }, 0, 500]);
  assertEquals([first.stopSignal, first.restartPolicy, first.stopMode], [
    "SIGINT",
    "never",
    "leave",
  ]);
  assertEquals([first.inheritEnv, first.namespace], [["PATH"], "worker"]);
  assertEquals(notes.map((note) => note.split(": ").slice(0, 3).join(": ")), [
    "-:3: [circus]: httpd",
    "-:26: [plugin:flap]: webhooks, health_check or max_memory",
  ]);
});

Deno.test("processes of pup start, restart and log as there", async () => {
  const { configs, notes } = await loaded({
    "pup.json": JSON.stringify({
      terminateTimeout: 9,
      processes: [
        {
          id: "web",
          cmd: "deno run a.ts",
          autostart: true,
          restart: "always",
          restartDelayMs: 500,
        },
        { id: "off", cmd: "run" },
        { id: "job", cmd: "run", cron: "0 0 * * * *", logger: { stdout: "job.log" } },
        { id: "many", cmd: "run", autostart: true, restart: "error", cluster: { instances: 2 } },
        { id: "own", worker: ["w.ts"], watch: ["src"], cwd: "app", plugins: 1 },
      ],
    }),
    "app/src/a": "",
  });
  const [web, off, job, many, own] = ["web", "off", "job", "many", "own"].map((name) =>
    configs.get(name)
  );
  assertEquals([web.restartPolicy, web.restartDelayMs, web.stopTimeoutMs], ["always", 500, 9000]);
  assertEquals([off.autostart, off.restartPolicy], [false, "never"]);
  assertEquals([job.cron.schedule, job.log.stdout], ["0 0 * * * *", "/job.log"]);
  assertEquals([many.instances, many.restartPolicy], [2, "on-failure"]);
  assertEquals([argv(own), own.watch.paths, own.autostart], [
    ["deno", "run", "w.ts"],
    ["/app/src"],
    true,
  ]);
  assertEquals(notes.map((note) => note.split(":")[2]!.trim()), ["worker", "plugins"]);
});

Deno.test("a Procfile has the variables of .overmind.env, and foreman's reading of .env", async () => {
  const { configs, run, notes } = await loaded({
    "Procfile": "web: run\nworker: work\nclock: tick\n",
    ".overmind.env": "OVERMIND_PORT=3000\nOVERMIND_FORMATION=worker=2,clock=0\n" +
      "OVERMIND_STOP_SIGNALS=web=QUIT\nOVERMIND_AUTO_RESTART=web\nOVERMIND_CAN_DIE=worker\n" +
      "OVERMIND_PROCFILE=Procfile\nOVERMIND_ROOT=x\nOWN=1\n",
  });
  const [web, worker, clock] = ["web", "worker", "clock"].map((name) => configs.get(name));
  assertEquals([web.env.PORT, worker.env.PORT], ["3000", "3100"]);
  assertEquals([worker.instances, worker.incrementEnv, clock.autostart], [2, ["PORT"], false]);
  assertEquals([web.stopSignal, web.restartPolicy, web.envFile], [
    ...["SIGQUIT", "always", ["/.overmind.env"]],
  ]);
  assertEquals(run.critical, ["web", "clock"]);
  assertEquals(notes, ["-:-: .overmind.env OVERMIND_ROOT=x: cwd of each process"]);
  await using files = new Files({ "Procfile": "a: run\n", ".env": "A=b # c\nB=1\n" });
  const { processes: [a] } = await files.load(["Procfile"], { env: ENV });
  assertEquals(a!.config.env.A, "b # c");
  const file = `${files.folder}/Procfile`;
  const written = await importFile(file, { env: ENV, findings });
  assertEquals(written.notes.map(({ text }) => text), [
    ".env A: foreman keeps what follows a # in its value: quote it",
  ]);
});

Deno.test("one table has the tools: their importers, the files that up finds, and the words of completion", async () => {
  for (const { name, importer } of TOOLS) {
    assertEquals(typeof (await importer()).convert, "function", name);
  }
  for (const name of ["mprocs.yaml", "circus.ini", "pup.jsonc", "ecosystem.config.cjs"]) {
    await using files = new Files({ [name]: "" });
    assertEquals(discover(files.folder), `${files.folder}/${name}`);
  }
  for (const name of ["a.timer", "crontab", "/etc/cron.d/x", "ecosystem.ts", "b.json5"]) {
    assertEquals(isConfigName(name), name !== "b.json5", name);
  }
  const source = { commands: COMMANDS, names: () => Promise.resolve([]) };
  const found = await candidates(["import", ""], source);
  assertEquals(found.map(({ word }) => word), [...TOOL_NAMES, ":files"]);
});
