/** Process settings in a configuration, as the app sees them. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { cgroups } from "../../src/platform/scan/cgroup.ts";
import { BY_OUR_NAMES } from "../support/link_library.ts";
import { freePort } from "../support/http_load.ts";
import { isInstalled } from "../support/installed.ts";
import { outputOf } from "../support/output_of.ts";
import { denoDir, isAlive, programLine, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const isRoot = Deno.build.os === "linux" && Deno.uid() === 0;
const rootOnly = { ignore: !isRoot };

/** The output of a script that runs with a configuration. */
async function output(
  daemon: TestDaemon,
  script: string,
  config: Record<string, unknown>,
): Promise<string[]> {
  await daemon.client.call("start", {
    name: "app",
    entrypoint: "/bin/sh",
    args: ["-c", `${script}; echo done`],
    cwd: "/",
    restart_policy: "never",
    ...config,
  });
  const log = `${daemon.home}/apps/app/stdout.log`;
  const errors = `${daemon.home}/apps/app/stderr.log`;
  await waitFor(() => {
    if (Deno.readTextFileSync(log).endsWith("done\n")) return true;
    throw new Error(Deno.readTextFileSync(errors));
  }, { what: "the app's output" });
  return Deno.readTextFileSync(log).trimEnd().split("\n").slice(0, -1);
}

async function refusal(daemon: TestDaemon, config: Record<string, unknown>): Promise<string> {
  const error = await assertRejects(() => daemon.startScript("app", "sleep 1000", config));
  assertEquals((await daemon.client.call("list")).length, 0, "it was registered");
  return (error as Error).message;
}

Deno.test("umask, nice and limits apply to the app", async () => {
  const lines = await output(
    daemon,
    "umask; nice; cat /proc/self/limits",
    {
      umask: "027",
      nice: 7,
      limits: { nofile: 123, nproc: 4567, core: 0, address_space: "1GB", file_size: "1MB" },
    },
  );
  assertEquals(lines.slice(0, 2), ["0027", "7"]);
  const limit = (name: string) =>
    lines.find((line) => line.startsWith(name))!.slice(name.length).trim().split(/\s+/).slice(0, 2);
  assertEquals(limit("Max open files"), ["123", "123"]);
  assertEquals(limit("Max processes"), ["4567", "4567"]);
  assertEquals(limit("Max core file size"), ["0", "0"]);
  assertEquals(limit("Max address space"), [`${2 ** 30}`, `${2 ** 30}`]);
  assertEquals(limit("Max file size"), [`${2 ** 20}`, `${2 ** 20}`]);
});

/** The tests may run with another umask. */
function ownNice(): string {
  return new TextDecoder().decode(new Deno.Command("nice").outputSync().stdout).trim();
}

Deno.test("an app without these settings has the defaults", async () => {
  const script = "umask; nice; ulimit -f; env | grep -c LISTEN_; ls /proc/self/fd";
  const [umask, nice, fileSize, listen] = await output(daemon, script, { umask: undefined });
  assertEquals([nice, fileSize, listen], [ownNice(), "unlimited", "0"]);
  assertEquals(umask, "0022");
});

Deno.test("apps have the umask 022 and the soft limit of open files of the shell that started the daemon", async () => {
  await using temp = tempHome();
  const show = "umask; ulimit -Sn; ulimit -Hn; exec sleep 1000";
  const program = `${programLine()} start --name app -- sh -c '${show}'`;
  const env = { PROCSUP_HOME: temp.path, NO_COLOR: "1", DENO_DIR: denoDir() };
  const shell =
    `umask 077; ulimit -Sn 777; ${program} && ${programLine()} logs app --raw; ${programLine()} kill`;
  const { code, stdout, stderr } = await outputOf(
    new Deno.Command("/bin/sh", { args: ["-c", shell], env, stdin: "null" }),
  );
  assertEquals(code, 0, stderr);
  const hard = /^Max open files\s+\d+\s+(\d+)/m.exec(
    Deno.readTextFileSync("/proc/self/limits"),
  )![1]!;
  assertStringIncludes(stdout, `0022\n777\n${hard}\n`);
});

Deno.test("variables with names that no shell accepts reach the app", async () => {
  const env = { "discovery.type": "single node", "A-B": "${x}", SHELLOPTS: "errexit", PS1: "$ " };
  const lines = await output(daemon, "tr '\\0' '\\n' </proc/$$/environ", { env });
  for (const [name, value] of Object.entries(env)) assert(lines.includes(`${name}=${value}`), name);
});

Deno.test("uid and gid apply to the app, with the user's groups and home", rootOnly, async () => {
  const script = "id -u; id -g; id -G; echo $HOME $USER $LOGNAME; echo $PROCSUP_NAME; pwd";
  assertEquals(await output(daemon, script, { uid: "nobody", gid: "daemon" }), [
    "65534",
    "1",
    await groups("nobody", "1"),
    "/nonexistent nobody nobody",
    "app",
    "/",
  ]);
  const { pid, state } = await daemon.startScript("by_id", "exec sleep 1000", {
    uid: 65534,
    env: { HOME: "/tmp" },
  });
  assertEquals(state, "running");
  const comm = () => Deno.readTextFileSync(`/proc/${pid}/comm`);
  await waitFor(() => comm() === "sleep\n", { what: "the app to have taken over" });
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  assertStringIncludes(status, "Uid:\t65534\t65534\t65534\t65534");
  assertStringIncludes(status, "Gid:\t65534\t65534\t65534\t65534");
  assertStringIncludes(status, "CapEff:\t0000000000000000");
  // During exec a process has no environment.
  await waitFor(() => Deno.readTextFileSync(`/proc/${pid}/environ`).includes("\0HOME=/tmp\0"));
  await daemon.client.call("stop", { target: "by_id" });
  assert(!isAlive(pid));
});

/** Whether control groups are available here. */
function hasGroups(): boolean {
  const path = `/sys/fs/cgroup${Deno.build.os === "linux" && isV1() ? "/unified" : ""}`;
  try {
    Deno.mkdirSync(`${path}/procsup-test`);
    Deno.removeSync(`${path}/procsup-test`);
    return true;
  } catch {
    return false;
  }
}

function isV1(): boolean {
  try {
    return Deno.statSync("/sys/fs/cgroup/unified/cgroup.controllers").isFile;
  } catch {
    return false;
  }
}

/**
 * Once in its control group: leaves the session, clears its environment, forks twice, ignores
 * signals. `early` does so in a child that forks before the group is joined.
 */
const hiding = (pidFile: string, early: boolean) =>
  `hide() {
     until grep -q /procsup/ /proc/self/cgroup; do sleep 0.1; done
     setsid env -i /bin/sh -c '
       (env -i /bin/sh -c "trap : TERM HUP INT; echo \\$\\$ >${pidFile}; while :; do sleep 1; done") &
     ' >/dev/null 2>&1 </dev/null &
   }
   ${early ? "(hide) &" : "hide"}
   while [ ! -e "$GATE" ]; do sleep 0.1; done`;

/** Starts a script that hides a process, and returns that process's pid. */
async function startHiding(daemon: TestDaemon, name: string, early = false): Promise<number> {
  const pidFile = `${daemon.home}/${name}.hidden`;
  await daemon.startScript(name, hiding(pidFile, early), {
    stop_timeout: "300ms",
    restart_policy: "never",
    env: { GATE: `${daemon.home}/gate` },
  });
  await waitFor(() => Deno.readTextFileSync(pidFile).endsWith("\n"), { what: "the hidden one" });
  const pid = Number(Deno.readTextFileSync(pidFile));
  assert(isAlive(pid));
  return pid;
}

Deno.test("stop terminates a process that left its session and cleared its environment", {
  ignore: !hasGroups(),
}, async () => {
  const own = await startHiding(daemon, "own");
  await daemon.client.call("stop", { target: "own" });
  assert(!isAlive(own));

  const early = await startHiding(daemon, "early", true);
  await daemon.client.call("stop", { target: "early" });
  assert(!isAlive(early));

  const adopted = await startHiding(daemon, "adopted");
  await daemon.kill();
  await daemon.run();
  await daemon.client.call("stop", { target: "adopted" });
  assert(!isAlive(adopted));
});

Deno.test("the exit of an app terminates the processes it hid, and removes its control group", {
  ignore: !hasGroups(),
}, async () => {
  const hidden = await startHiding(daemon, "app");
  const group = Deno.readTextFileSync(`/proc/${hidden}/cgroup`).match(/^0::(.*)$/m)![1]!;
  assertStringIncludes(group, "/procsup/");
  await Deno.writeTextFile(`${daemon.home}/gate`, "");
  await waitFor(() => !isAlive(hidden), { what: "the hidden one to end" });
  await daemon.startScript("next", "exec sleep 1000");
  const path = `/sys/fs/cgroup${isV1() ? "/unified" : ""}${group}`;
  await waitFor(() => !exists(path), { what: "the group to be removed" });
});

/** Listens, and leaves its socket to a process that escapes from everything by which it is found. */
const ESCAPING = `import os, resource, socket, sys, time
port, base, file = int(sys.argv[1]), sys.argv[2], sys.argv[3]
server = socket.create_server(("127.0.0.1", port))
server.set_inheritable(True)
while base and "/procsup/" not in open("/proc/self/cgroup").read(): time.sleep(0.01)
if os.fork() == 0:
  os.setsid()
  child = os.getpid()
  if os.fork(): os._exit(0)
  while os.getppid() == child: time.sleep(0.01)
  if base: open(base + "/cgroup.procs", "w").write(str(os.getpid()))
  resource.setrlimit(10, (0, 0))
  script = "import os, time; print(os.getpid(), file=open(%r, 'w')); time.sleep(1000)" % file
  os.execve(sys.executable, [sys.executable, "-c", script], {})
time.sleep(1000)
`;

Deno.test("stop tells which process that it cannot find still listens on a port of the app", {
  ignore: Deno.build.os !== "linux" || !isInstalled("python3"),
}, async () => {
  const [port, file, script] = [freePort(), `${daemon.home}/pid`, `${daemon.home}/app.py`];
  Deno.writeTextFileSync(script, ESCAPING);
  const base = hasGroups() ? `/sys/fs/cgroup${isV1() ? "/unified" : ""}` : "";
  const argv = ["python3", script, String(port), base, file];
  await daemon.cli("start", "--name", "app", "--", ...argv);
  await waitFor(() => Deno.readTextFileSync(file).endsWith("\n"), { what: "the other process" });
  const pid = Number(Deno.readTextFileSync(file));
  const told = `pid ${pid} (python3) still listens on port ${port}`;
  try {
    const { code, stderr } = await daemon.cli("stop", "app");
    assertEquals(code, 0);
    assertStringIncludes(stderr, told);
    assertStringIncludes((await daemon.cli("why", "app")).stdout, told);
    assertStringIncludes((await daemon.cli("events", "app", "--since", "1h")).stdout, told);
  } finally {
    Deno.kill(pid, "SIGKILL");
  }
  await waitFor(() => !isAlive(pid));
  assert(!(await daemon.cli("stop", "app")).stderr.includes("listens"));
});

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

const LIMITED = {
  ...{ name: "app", entrypoint: "/bin/sh", args: ["-c", "exec sleep 1000"], cwd: "/" },
  limits: { memory: "100MB", cpu_percent: 50, pids: 10 },
};
/** The daemon's reason for rejecting limits here. */
const limitProblem = cgroups().problem({ memoryBytes: 1, cpuPercent: 1, pids: 1 });

Deno.test(
  "limits of the control group are enforced",
  { ignore: limitProblem !== undefined },
  async () => {
    await daemon.client.call("start", LIMITED);
    const { pid } = await daemon.status("app");
    const group = Deno.readTextFileSync(`/proc/${pid}/cgroup`).match(/^0::(.*)$/m)![1]!;
    assertEquals(Deno.readTextFileSync(`/sys/fs/cgroup${group}/pids.max`), "10\n");
  },
);

Deno.test("limits that no control group can enforce are rejected plainly", {
  ignore: limitProblem === undefined,
}, async () => {
  const start = () => daemon.client.call("start", LIMITED);
  const error = await assertRejects(start, Error);
  const needs = "needs a writable cgroup v2 with the memory controller";
  assertEquals(error.message, `Cannot start "app": limits.memory ${needs}`);
  assertEquals(await daemon.client.call("list"), []);
});

/** The groups that `id -G` prints for a user with another primary group. */
async function groups(user: string, gid: string): Promise<string> {
  const { stdout } = await new Deno.Command("id", { args: ["-G", user] }).output();
  const all = new TextDecoder().decode(stdout).trim().split(" ");
  return [...new Set([gid, ...all])].join(" ");
}

Deno.test("an app of another user is adopted", rootOnly, async () => {
  const { pid } = await daemon.startScript("app", "exec sleep 1000", { uid: "nobody" });
  await daemon.kill();
  await daemon.run();
  assertEquals((await daemon.status("app")).pid, pid);
  await daemon.client.call("stop", { target: "app" });
  assert(!isAlive(pid));
});

Deno.test("start rejects invalid users, groups and limits", rootOnly, async () => {
  const most = Deno.readTextFileSync("/proc/sys/fs/nr_open").trim();
  for (
    const [config, message] of [
      [{ uid: "nosuchuser" }, 'Cannot start "app": uid "nosuchuser" is not a user of this machine'],
      [{ gid: "nosuchgroup" }, 'gid "nosuchgroup" is not a group of this machine'],
      [{ uid: 54321 }, "uid 54321 is not a user of this machine, so gid must be set too"],
      [{ limits: { nofile: Number(most) + 1 } }, `is above ${most}, the most that can be set here`],
    ] as const
  ) {
    assertStringIncludes(await refusal(daemon, config), message);
  }
});

Deno.test(
  "start without root rejects another user, a lower nice and a higher limit",
  rootOnly,
  async () => {
    const home = Deno.makeTempDirSync({ dir: "/tmp", prefix: "ps-" });
    Deno.chownSync(home, 65534, 65534);
    const hard = hardLimit();
    const script = `
    import { launchSetup } from ${
      JSON.stringify(new URL("../../src/process/launch_setup.ts", import.meta.url).href)
    };
    for (const config of [{ uid: "root" }, { gid: 0 }, { uid: "nobody" }, { nice: -5 }, { hooks: { preStart: { runAsRoot: true } } }, { limits: { nofile: ${
      hard + 1
    } } }]) {
      try {
        launchSetup(
          { name: "app", sockets: [], writable: [], limits: {}, hooks: {}, waitReady: false, ...config },
          "",
        );
        console.log("fine");
      } catch (error) {
        console.log(error.code, error.message);
      }
    }`;
    await Deno.writeTextFile(`${home}/script.ts`, script);
    // As one file: this user's cache of packages is empty.
    const bundled = ["bundle", "--quiet", "--platform", "deno", ...BY_OUR_NAMES];
    await new Deno.Command(Deno.execPath(), {
      args: [...bundled, "--output", `${home}/script.js`, `${home}/script.ts`],
    }).output();
    const { stdout } = await new Deno.Command("setpriv", {
      args: ["--reuid=65534", "--regid=65534", "--clear-groups", Deno.execPath()]
        .concat(["run", "-A", "--no-check", "--no-config", `${home}/script.js`]),
      env: { HOME: home, DENO_DIR: `${home}/deno` },
      stderr: "inherit",
    }).output();
    await Deno.remove(home, { recursive: true });
    assertEquals(new TextDecoder().decode(stdout).trim().split("\n"), [
      'invalid_config Cannot start "app": uid "root" needs a supervisor that runs as root',
      'invalid_config Cannot start "app": gid 0 needs a supervisor that runs as root',
      "fine",
      'invalid_config Cannot start "app": nice -5 is below the supervisor\'s own ' + ownNice() +
      ", which needs root",
      'invalid_config Cannot start "app": hooks.pre_start.run_as_root needs a supervisor that runs as root',
      `invalid_config Cannot start "app": limits.nofile ${hard + 1} is above ${hard}, ` +
      "the most that can be set here",
    ]);
  },
);

function hardLimit(): number {
  const line = /^Max open files\s+\S+\s+(\d+)/m.exec(Deno.readTextFileSync("/proc/self/limits"));
  return Number(line![1]);
}
