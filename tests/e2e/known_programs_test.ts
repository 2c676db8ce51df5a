/** Servers and workers as people run them: started, reloaded, stopped; nothing left, no work lost. */

import { assertEquals } from "@std/assert";
import { isListenedOn } from "../../src/platform/scan/listening_ports.ts";
import { namesIn } from "../../src/platform/files/stat.ts";
import { livingOf, parentOf, runMark } from "../fixtures/run_members.ts";
import { freePort } from "../support/http_load.ts";
import { isInstalled } from "../support/installed.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const PYTHON = "/usr/bin/python3";

interface Program {
  readonly name: string;
  /** Whether it is here, and the package with it. */
  readonly isHere: () => boolean;
  readonly install: string;
  /** Its configuration, for a free port and an empty folder. */
  readonly config: (port: number, folder: string) => Record<string, unknown>;
  /** Its exit at a stop; code 0 unless given. */
  readonly exit?: readonly [code: number, signal: string | null];
  /** Whether a reload keeps the process. */
  readonly reloads?: boolean;
}

const PROGRAMS: readonly Program[] = [
  {
    name: "gunicorn",
    isHere: () => hasModule("gunicorn"),
    install: "gunicorn",
    config: (port, folder) => {
      write(
        `${folder}/app.py`,
        'def app(environ, start):\n  start("200 OK", [])\n  return [b"ok"]\n',
      );
      return {
        command: `${PYTHON} -m gunicorn -w 2 -b 127.0.0.1:${port} app:app`,
        stop_mode: "main",
        reload_signal: "SIGHUP",
      };
    },
    reloads: true,
  },
  {
    name: "uvicorn",
    isHere: () => hasModule("uvicorn"),
    install: "uvicorn",
    config: (port, folder) => {
      write(
        `${folder}/app.py`,
        `async def app(scope, receive, send):
  if scope["type"] != "http": return
  await send({"type": "http.response.start", "status": 200, "headers": []})
  await send({"type": "http.response.body", "body": b"ok"})
`,
      );
      return { command: `${PYTHON} -m uvicorn --port ${port} --lifespan off app:app` };
    },
  },
  {
    name: "puma",
    isHere: () => isInstalled("puma"),
    install: "puma",
    config: (port, folder) => {
      write(`${folder}/config.ru`, 'run ->(env) { [200, {}, ["ok"]] }\n');
      return {
        command: `puma -w 2 -t 1:1 -b tcp://127.0.0.1:${port} config.ru`,
        stop_mode: "main",
        reload_signal: "SIGUSR2",
      };
    },
    reloads: true,
    exit: [143, "SIGTERM"],
  },
  {
    name: "nginx in the foreground",
    isHere: () => isInstalled("nginx"),
    install: "nginx-light",
    config: (port, folder) => {
      const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(" ");
      write(
        `${folder}/conf`,
        `${Deno.uid() === 0 ? "user root; " : ""}pid ${folder}/pid; worker_processes 2; events {}
         http { access_log off; ${paths} server { listen 127.0.0.1:${port};
           location / { return 200 ok; } } }`,
      );
      return {
        command: `nginx -p ${folder} -c ${folder}/conf -e stderr -g 'daemon off;'`,
        ...{ stop_mode: "main", stop_signal: "SIGQUIT", reload_signal: "SIGHUP" },
      };
    },
    reloads: true,
  },
  {
    name: "redis",
    isHere: () => isInstalled("redis-server"),
    install: "redis-server",
    config: (port, folder) => ({
      command: `redis-server --port ${port} --bind 127.0.0.1 --dir ${folder}`,
    }),
  },
  {
    name: "php-fpm",
    isHere: () => phpFpm() !== undefined,
    install: "php-fpm",
    config: (port, folder) => {
      write(
        `${folder}/conf`,
        [
          ...["[global]", `pid = ${folder}/pid`, "error_log = /proc/self/fd/2"],
          ...["[www]", `listen = 127.0.0.1:${port}`, "pm = static", "pm.max_children = 2"],
          ...Deno.uid() === 0 ? ["user = nobody", "group = nogroup"] : [],
          "",
        ].join("\n"),
      );
      return {
        command: `${phpFpm()} --nodaemonize -y ${folder}/conf`,
        ...{ stop_mode: "main", stop_signal: "SIGQUIT", reload_signal: "SIGUSR2" },
        log: { pipe: true },
      };
    },
    reloads: true,
  },
  {
    name: "PostgreSQL",
    isHere: () => Deno.uid() === 0 && postgres() !== undefined,
    install: "postgresql",
    config: (port, folder) => {
      const data = `${folder}/data`;
      Deno.chownSync(folder, Number(new TextDecoder().decode(run("id", "-u", "postgres"))), null);
      run(
        ...["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"],
        ...[`${postgres()}/initdb`, "-D", data, "-N", "-A", "trust"],
      );
      return {
        command: `${postgres()}/postgres -D ${data} -p ${port} -k ${folder} -h 127.0.0.1`,
        ...{ uid: "postgres", stop_mode: "main", stop_signal: "SIGINT", reload_signal: "SIGHUP" },
      };
    },
    reloads: true,
  },
  {
    name: "Java",
    isHere: () => isInstalled("java") && isInstalled("javac"),
    install: "default-jdk-headless",
    config: (port, folder) => {
      write(
        `${folder}/App.java`,
        `public class App { public static void main(String[] args) throws Exception {
          var server = com.sun.net.httpserver.HttpServer.create(
            new java.net.InetSocketAddress("127.0.0.1", ${port}), 0);
          server.start(); } }`,
      );
      return { command: "java App.java", success_exit_codes: [0, 143], min_uptime: "100ms" };
    },
    exit: [143, null],
  },
  {
    name: "npm run dev",
    isHere: () => isInstalled("npm") && isInstalled("node"),
    install: "npm",
    config: (port, folder) => {
      const server = `require("http").createServer((_, to) => to.end("ok")).listen(${port})`;
      write(`${folder}/server.js`, server);
      write(`${folder}/package.json`, JSON.stringify({ scripts: { dev: "node server.js" } }));
      return { command: "npm run dev" };
    },
    exit: [143, "SIGTERM"],
  },
];

for (const program of PROGRAMS) {
  const ignore = isMissing(program.name, program.install, program.isHere());
  Deno.test(
    `${program.name} is started, reloaded and stopped, and leaves nothing`,
    { ignore },
    () => life(program),
  );
}

async function life({ config, reloads = false, exit = [0, null] }: Program): Promise<void> {
  await using temp = tempHome();
  await using daemon = await TestDaemon.start();
  const [port, folder] = [freePort(), temp.path];
  // The app's user must be able to enter it.
  Deno.chmodSync(folder, 0o711);
  const wire = { name: "app", cwd: folder, min_uptime: "200ms", stop_timeout: "20s" };
  await daemon.client.call("start", { ...wire, ...config(port, folder) });
  await waitFor(() => isListenedOn(port), { what: "it to listen", timeoutMs: 30_000 });
  const first = await daemon.status("app");
  const { code, stdout, stderr } = await daemon.cli("reload", "app");
  assertEquals(code, 0, stdout + stderr);
  await waitFor(() => isListenedOn(port), { what: "it to listen again", timeoutMs: 30_000 });
  const { pid, restarts } = await daemon.status("app");
  assertEquals([pid === first.pid, restarts], [reloads, 0]);
  const mark = await runMark(parentOf(pid));
  assertEquals((await daemon.cli("stop", "app")).code, 0);
  const { state, last_exit } = await daemon.status("app");
  assertEquals([state, last_exit?.code, last_exit?.signal], ["stopped", ...exit]);
  assertEquals([livingOf(mark), isListenedOn(port)], [[], false]);
}

for (
  const { name, isHere, promoted, config } of [
    {
      ...PROGRAMS.find(({ name }) => name === "gunicorn")!,
      // Until it knows that its parent has ended, it ignores the signal.
      promoted: "Master has been promoted",
    },
    {
      name: "unicorn",
      isHere: () => isInstalled("unicorn"),
      promoted: undefined,
      config: (port: number, folder: string) => {
        write(`${folder}/config.ru`, 'run ->(env) { [200, {}, ["ok"]] }\n');
        return { command: `unicorn -l 127.0.0.1:${port} config.ru`, stop_mode: "main" };
      },
    },
  ]
) {
  Deno.test({
    name: `the new main process of ${name} is followed, also while no daemon runs`,
    ignore: isMissing(name, name, isHere()),
    async fn() {
      await using daemon = await TestDaemon.start();
      const [port, cwd] = [freePort(), `${daemon.home}/files`];
      Deno.mkdirSync(cwd);
      await daemon.client.call("start", { name: "app", cwd, ...config(port, cwd) });
      let { pid: main } = await daemon.status("app");
      const mark = await runMark(parentOf(main));
      const workersOf = (pid: number) => livingOf(mark).filter((one) => parentOf(one) === pid);
      await waitFor(() => workersOf(main).length > 0, { what: "its workers" });
      const promotions = () =>
        Deno.readTextFileSync(`${daemon.home}/apps/app/stderr.log`).split(promoted ?? "").length;
      /** Lets a new main process take over, and returns its pid. */
      const replace = async () => {
        let heir: number | undefined;
        Deno.kill(main, "SIGUSR2");
        await waitFor(() => heir = workersOf(main).find((pid) => workersOf(pid).length > 0));
        const before = promotions();
        Deno.kill(main, "SIGQUIT");
        await waitFor(() => !isAlive(main), { what: "the end of the first" });
        await waitFor(() => promoted === undefined || promotions() > before);
        return heir!;
      };
      const followed = async () => {
        const { state, pid, restarts } = await daemon.status("app");
        return state === "running" && pid === main && restarts === 0;
      };
      main = await replace();
      await waitFor(followed, { what: "the new main process" });
      const workers = workersOf(main).length;
      assertEquals((await daemon.cli("signal", "TTIN", "app")).code, 0);
      await waitFor(() => workersOf(main).length === workers + 1, { what: "another worker" });
      await daemon.kill();
      main = await replace();
      await daemon.revive();
      await waitFor(followed, { what: "the next one" });
      assertEquals((await daemon.cli("stop", "app")).code, 0);
      assertEquals([livingOf(mark), isListenedOn(port)], [[], false]);
    },
  });
}

const CELERY = !isMissing("Celery", "celery python3-redis redis-server", hasCelery());

for (const [mode, done] of [["main", 2], ["group", 0]] as const) {
  Deno.test(`stop of Celery with stop_mode ${mode}: ${done} of 2 running tasks are done`, {
    ignore: !CELERY,
  }, async () => {
    await using daemon = await TestDaemon.start();
    const [port, cwd] = [freePort(), `${daemon.home}/files`];
    Deno.mkdirSync(cwd);
    write(
      `${cwd}/shop.py`,
      `import os, time
from celery import Celery
app = Celery("shop", broker="redis://127.0.0.1:${port}/0")
@app.task
def work(number):
  open(f"begun.{number}", "w")
  while not os.path.exists("go"): time.sleep(0.02)
  open(f"done.{number}", "w")
`,
    );
    const start = (name: string, command: string, more = {}) =>
      daemon.client.call("start", { name, command, cwd, min_uptime: "200ms", ...more });
    await start("redis", `redis-server --port ${port} --bind 127.0.0.1 --save ""`);
    await waitFor(() => isListenedOn(port), { what: "redis" });
    const worker = `${PYTHON} -m celery -A shop worker -c 2`;
    await start("worker", worker, { stop_mode: mode, stop_timeout: "30s" });
    const { pid } = await daemon.status("worker");
    run("env", "-C", cwd, PYTHON, "-c", "import shop\nfor n in 1, 2: shop.work.delay(n)");
    const files = (kind: string) =>
      [...Deno.readDirSync(cwd)].filter(({ name }) => name.startsWith(`${kind}.`)).length;
    await waitFor(() => files("begun") === 2, { what: "both tasks", timeoutMs: 30_000 });
    const mark = await runMark(parentOf(pid));
    const stop = daemon.cli("stop", "worker");
    const log = () => Deno.readTextFileSync(`${daemon.home}/apps/worker/stderr.log`);
    await waitFor(() => log().includes("Warm shutdown"), { what: "the shutdown" });
    // Without the signal, the workers are still there now.
    if (mode === "group") await waitFor(() => livingOf(mark).length <= 2 || !isAlive(pid));
    write(`${cwd}/go`, "");
    assertEquals([(await stop).code, files("done")], [0, done]);
    assertEquals(livingOf(mark), []);
    assertEquals((await daemon.status("worker")).last_exit?.code, 0);
  });
}

function isMissing(name: string, install: string, isHere: boolean): boolean {
  // deno-lint-ignore no-console
  if (!isHere) console.log(`skipped: ${name} is not here (apt-get install ${install})`);
  return !isHere || Deno.build.os !== "linux";
}

function write(path: string, text: string): void {
  Deno.writeTextFileSync(path, text);
}

function run(program: string, ...args: string[]): Uint8Array {
  const { success, stdout, stderr } = new Deno.Command(program, { args, cwd: "/" }).outputSync();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
  return stdout;
}

function hasModule(...names: string[]): boolean {
  if (!isInstalled(PYTHON)) return false;
  const args = ["-c", `import ${names.join(", ")}`];
  return new Deno.Command(PYTHON, { args, stderr: "null" }).outputSync().success;
}

function hasCelery(): boolean {
  return isInstalled("redis-server") && hasModule("celery", "redis");
}

/** The folder of its programs, which are not on PATH. */
function postgres(): string | undefined {
  const versions = namesIn("/usr/lib/postgresql").toSorted();
  return versions.length === 0 ? undefined : `/usr/lib/postgresql/${versions.at(-1)}/bin`;
}

/** Its name on Debian has its version. */
function phpFpm(): string | undefined {
  const name = namesIn("/usr/sbin").find((one) => /^php-fpm[\d.]*$/.test(one));
  return name && `/usr/sbin/${name}`;
}
