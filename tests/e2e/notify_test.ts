/**
 * Apps that report their state by sd_notify(3), as under systemd: readiness, status, reloads,
 * watchdog, over a killed daemon too.
 */

import { assert, assertEquals } from "@std/assert";
import { livingOf, runMark } from "../fixtures/run_members.ts";
import { sleep } from "../../src/platform/clock.ts";
import { lstatIfAny, namesIn } from "../../src/platform/files/stat.ts";
import { notifyProblem } from "../../src/platform/launch/notify_socket.ts";
import { freePort } from "../support/http_load.ts";
import { isInstalled } from "../support/installed.ts";
import { TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const PYTHON = "/usr/bin/python3";

const noSocket = notifyProblem();
// deno-lint-ignore no-console
if (noSocket !== undefined) console.log(`skipped: sd_notify ${noSocket}`);

function isMissing(program: string, isHere = isInstalled(program)): boolean {
  // deno-lint-ignore no-console
  if (!isHere) console.log(`skipped: ${program} is not installed`);
  return !isHere || noSocket !== undefined;
}

function hasModule(name: string): boolean {
  return isInstalled("python3") &&
    new Deno.Command(PYTHON, { args: ["-c", `import ${name}`], stderr: "null" }).outputSync()
      .success;
}

function hasGem(name: string): boolean {
  return isInstalled("ruby") &&
    new Deno.Command("ruby", { args: ["-e", `require "${name}"`], stderr: "null" }).outputSync()
      .success;
}

/** Says each message that is put into the file `say`, whoever it is from. */
const SPEAKER = `import os, socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(os.environ["NOTIFY_SOCKET"])
dog = os.environ.get("WATCHDOG_USEC")
print(dog, os.environ.get("WATCHDOG_PID") == str(os.getpid()), flush=True)
while True:
  if os.path.exists("say"):
    for message in open("say").read().split("|"): s.send(message.encode())
    os.rename("say", "said")
  if dog and not os.path.exists("hang"): s.send(b"WATCHDOG=1")
  time.sleep(0.05)
`;

async function say(folder: string, text: string): Promise<void> {
  Deno.writeTextFileSync(`${folder}/say.new`, text);
  Deno.renameSync(`${folder}/say.new`, `${folder}/say`);
  await waitFor(() => !namesIn(folder).includes("say"), { what: "the app to say it" });
}

const noPython = isMissing("python3");

Deno.test("what an app says by sd_notify outlives the daemon, and its watchdog waits for one", {
  ignore: noPython,
}, async () => {
  await using folder = tempHome();
  const cwd = folder.path;
  Deno.writeTextFileSync(`${cwd}/app.py`, SPEAKER);
  const starting = daemon.client.call("start", {
    ...{ name: "app", command: `${PYTHON} app.py`, cwd, wait_ready: true, watchdog: "3s" },
    ...{ listen_timeout: "1m", restart_delay: "1ms", log: { stdout: `${cwd}/out` } },
  }).catch(() => {});
  // Unbuffered, each part of a line is written by itself.
  await waitFor(() =>
    namesIn(cwd).includes("out") && Deno.readTextFileSync(`${cwd}/out`).endsWith("\n")
  );
  assertEquals(Deno.readTextFileSync(`${cwd}/out`), "3000000 True\n");
  await say(cwd, "STATUS=warming up");
  await waitFor(async () => (await daemon.status("app")).status_text === "warming up");
  assertEquals((await daemon.status("app")).state, "starting");

  await daemon.kill();
  await starting;
  await say(cwd, "READY=1\nSTATUS=grüße\u001b[31m, 3 clients|FDSTORE=1|nonsense");
  await daemon.run();
  await waitFor(async () => (await daemon.status("app")).state === "running");
  assertEquals((await daemon.status("app")).status_text, "grüße, 3 clients");
  const { pid } = await daemon.status("app");

  // Silent while no daemon looks, and for longer than its watchdog allows.
  Deno.writeTextFileSync(`${cwd}/hang`, "");
  await daemon.kill();
  await sleep(3500);
  await daemon.run();
  Deno.removeSync(`${cwd}/hang`);
  await say(cwd, "STATUS=still there");
  await waitFor(async () => (await daemon.status("app")).status_text === "still there");
  assertEquals((await daemon.status("app")).pid, pid);

  Deno.writeTextFileSync(`${cwd}/hang`, "");
  await waitFor(async () => {
    const { pid: now, state } = await daemon.status("app");
    return state === "starting" && now !== pid && now > 0;
  });
  Deno.removeSync(`${cwd}/hang`);
  const { last_exit, last_reason } = await daemon.status("app");
  assertEquals([last_exit?.signal, last_reason], ["SIGABRT", "no WATCHDOG=1 for 3s"]);
  const events = await daemon.cli("events", "app", "--since", "1h", "-o", "jsonl");
  const kinds = events.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(kinds.find(({ type }) => type === "crashed").cause, "watchdog");
  await say(cwd, "READY=1");
  await waitFor(async () => (await daemon.status("app")).state === "running");
  await say(cwd, "WATCHDOG=trigger");
  await waitFor(async () => (await daemon.status("app")).last_reason === "said WATCHDOG=trigger");
});

/** Ends when its child, which goes on as the main process, is ready. Both speak as they are told. */
const REPLACED = `import os, subprocess, sys, time
if "TABLEFLIP_HAS_PARENT_1" not in os.environ:
  subprocess.Popen([sys.executable, "app.py"], env={**os.environ, "TABLEFLIP_HAS_PARENT_1": "1"})
  while not os.path.exists("heir"): time.sleep(0.02)
  import socket
  s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
  s.connect(os.environ["NOTIFY_SOCKET"])
  s.send(b"READY=1\\nSTOPPING=1\\nSTATUS=the first")
  while not os.path.exists("end"): time.sleep(0.02)
  sys.exit()
open("heir", "w").close()
while os.path.exists("/proc/%d" % os.getppid()) and not os.path.exists("go"): time.sleep(0.02)
${SPEAKER}`;

Deno.test("a new main process is heard, and lives on after STOPPING=1 of the first one", {
  ignore: noPython,
}, async () => {
  for (const [name, isKilled] of [["followed", false], ["adopted", true]] as const) {
    await using folder = tempHome();
    const cwd = folder.path;
    Deno.chmodSync(cwd, 0o777);
    Deno.writeTextFileSync(`${cwd}/app.py`, REPLACED);
    await daemon.client.call("start", {
      ...{ name, command: `${PYTHON} app.py`, cwd, notify: true, stop_timeout: "3s" },
      ...{ wait: true, min_uptime: "1ms", ...Deno.uid() === 0 && { uid: "nobody" } },
    });
    const { pid } = await daemon.status(name);
    const text = async () => (await daemon.status(name)).status_text;
    await waitFor(async () => await text() === "the first");
    if (isKilled) await daemon.kill();
    Deno.writeTextFileSync(`${cwd}/end`, "");
    await waitFor(() => lstatIfAny(`/proc/${pid}`) === undefined, { what: "the end of the first" });
    if (isKilled) await daemon.run();
    await waitFor(async () => ![pid, 0].includes((await daemon.status(name)).pid));
    const heir = (await daemon.status(name)).pid;
    Deno.writeTextFileSync(`${cwd}/go`, "");
    await say(cwd, "STATUS=the heir");
    await waitFor(async () => await text() === "the heir");
    // Longer than its stop_timeout.
    await sleep(3500);
    assertEquals((await daemon.status(name)).pid, heir);
    assertEquals((await daemon.cli("stop", name)).code, 0);
  }
  await waitFor(() => namesIn(`${daemon.home}/run`).length === 0, { what: "no file of a run" });
});

const noNotify = isMissing("systemd-notify");

Deno.test("a reload signal is done when the app says READY=1 again, and it may ask for time", {
  ignore: noNotify,
}, async () => {
  await using folder = tempHome();
  const cwd = folder.path;
  const script = `trap 'systemd-notify --no-block RELOADING=1 STATUS=reloading
until [ -e go ]; do sleep 0.1; done; rm go; systemd-notify --ready --status=reloaded' HUP
trap 'systemd-notify EXTEND_TIMEOUT_USEC=60000000 STATUS=saving
until [ -e go ]; do sleep 0.1; done; exit 0' TERM
systemd-notify --ready --status=serving; while :; do sleep 1000 & wait; done`;
  const status = async () => (await daemon.status("app")).status_text;
  await daemon.startScript("app", script, {
    ...{ cwd, notify: true, wait_ready: true, reload_signal: "SIGHUP" },
    ...{ stop_timeout: "3s", wait: true },
  });
  assertEquals(await status(), "serving");
  const { pid } = await daemon.status("app");
  const reload = daemon.client.call("reload", { target: "app" });
  await waitFor(async () => await status() === "reloading");
  Deno.writeTextFileSync(`${cwd}/go`, "");
  await reload;
  assertEquals([await status(), (await daemon.status("app")).pid], ["reloaded", pid]);

  // The daemon is killed in the middle of it.
  const broken = daemon.client.call("reload", { target: "app" }).catch(() => {});
  await waitFor(async () => await status() === "reloading");
  await daemon.kill();
  await broken;
  await daemon.run();
  Deno.writeTextFileSync(`${cwd}/go`, "");
  await waitFor(async () => await status() === "reloaded");

  const stop = daemon.client.call("stop", "app");
  await waitFor(async () => await status() === "saving");
  await waitFor(() => daemon.status("app").then(({ state }) => state === "stopping"));
  // Longer than its stop_timeout.
  await sleep(3500);
  Deno.writeTextFileSync(`${cwd}/go`, "");
  await stop;
  assertEquals((await daemon.status("app")).last_exit?.code, 0);
  await waitFor(() => namesIn(`${daemon.home}/run`).length === 0, { what: "no file of a run" });
});

interface Program {
  readonly name: string;
  readonly missing: boolean;
  readonly config: (port: number, folder: string) => Record<string, unknown>;
  /** What it says about its state once it is ready. */
  readonly status?: RegExp;
}

/** The installed version of PostgreSQL. */
const postgres = namesIn("/usr/lib/postgresql").sort().at(-1);

const PROGRAMS: readonly Program[] = [
  {
    name: "postgres",
    missing: isMissing("postgres", postgres !== undefined && Deno.uid() === 0),
    config: (port, folder) => {
      Deno.chmodSync(folder, 0o755);
      const data = `${folder}/data`;
      const bin = `/usr/lib/postgresql/${postgres}/bin`;
      Deno.mkdirSync(data);
      const shell = `chown postgres ${data} && setpriv --reuid postgres --regid postgres ` +
        `--init-groups ${bin}/initdb --no-sync -D ${data}`;
      const { success } = new Deno.Command("/bin/sh", { args: ["-c", shell], stdout: "null" })
        .outputSync();
      assert(success, "initdb works");
      return {
        ...{ command: `${bin}/postgres -D ${data} -p ${port} -k ${data}`, uid: "postgres" },
        stop_signal: "SIGINT",
      };
    },
  },
  {
    name: "caddy",
    missing: isMissing("caddy"),
    config: (port, folder) => {
      Deno.writeTextFileSync(
        `${folder}/Caddyfile`,
        `{\n  admin off\n}\nhttp://127.0.0.1:${port} {\n  respond ok\n}\n`,
      );
      const home = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
      return { command: `caddy run --config ${folder}/Caddyfile`, env: home };
    },
  },
  {
    name: "puma",
    missing: isMissing("puma") || isMissing("ruby-sd-notify", hasGem("sd_notify")),
    config: (port, folder) => {
      Deno.writeTextFileSync(`${folder}/config.ru`, 'run ->(env) { [200, {}, ["ok"]] }\n');
      return {
        command: `puma -t 1:1 -b tcp://127.0.0.1:${port} config.ru`,
        watchdog: "10s",
      };
    },
  },
  {
    name: "gunicorn",
    missing: isMissing("gunicorn"),
    config: (port, folder) => {
      Deno.writeTextFileSync(
        `${folder}/app.py`,
        'def app(environ, start):\n  start("200 OK", [])\n  return [b"ok"]\n',
      );
      return { command: `gunicorn -w 1 -b 127.0.0.1:${port} app:app` };
    },
    status: /^Gunicorn arbiter booted$/,
  },
  {
    name: "uvicorn with sdnotify",
    missing: isMissing("sdnotify of Python", hasModule("sdnotify") && hasModule("uvicorn")),
    config: (port, folder) => {
      Deno.writeTextFileSync(
        `${folder}/app.py`,
        `import sdnotify
notifier = sdnotify.SystemdNotifier()
async def app(scope, receive, send):
  while scope["type"] == "lifespan":
    message = await receive()
    await send({"type": message["type"] + ".complete"})
    if message["type"] == "lifespan.startup": notifier.notify("READY=1\\nSTATUS=up")
`,
      );
      return { command: `${PYTHON} -m uvicorn --port ${port} app:app` };
    },
    status: /^up$/,
  },
];

for (const { name, missing, config, status } of PROGRAMS) {
  Deno.test(`${name} is ready when it says so by sd_notify`, { ignore: missing }, async () => {
    await using folder = tempHome();
    const port = freePort();
    const keys = { ...config(port, folder.path), cwd: folder.path, wait_ready: true };
    const { pid } = await daemon.client.call("start", { name: "app", wait: true, ...keys });
    assertEquals((await daemon.status("app")).state, "running");
    // It listens by then.
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    if (status !== undefined) {
      const text = async () => (await daemon.status("app")).status_text ?? "";
      await waitFor(async () => status.test(await text()), { what: `a status of ${name}` });
    }
    const mark = await runMark(pid);
    await daemon.client.call("stop", "app");
    assertEquals(livingOf(mark), []);
  });
}
