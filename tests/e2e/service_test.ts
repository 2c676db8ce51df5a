import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { writeState } from "../../src/platform/files/state_file.ts";
import { NotifySocket } from "../support/notify_socket.ts";
import { isAlive, programWords } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { wholeLog } from "../support/whole_log.ts";

const ignore = Deno.build.os !== "linux";

/** A daemon started like by systemd, and a fake `systemctl` that reports the machine's state. */
class ServiceScene implements AsyncDisposable {
  readonly #temp = tempHome();
  readonly home = `${this.#temp.path}/home`;
  readonly socket = `${this.#temp.path}/notify`;
  readonly notify = new NotifySocket(this.socket);
  readonly client = new DaemonClient(this.home);
  #daemon: Deno.ChildProcess | undefined;

  constructor() {
    this.machineIs("running");
  }

  machineIs(state: string): void {
    const path = `${this.#temp.path}/systemctl`;
    Deno.writeTextFileSync(path, `#!/bin/sh\necho ${state}\n`);
    Deno.chmodSync(path, 0o755);
  }

  async start(env: Record<string, string> = {}): Promise<void> {
    // Like systemd, sets the pid before the program runs: the shell becomes the program.
    const [program, ...words] = programWords();
    this.#daemon = new Deno.Command("/bin/sh", {
      args: [
        "-c",
        'SYSTEMD_EXEC_PID=$$ WATCHDOG_PID=$$ exec "$@"',
        "sh",
        program!,
        ...words,
        "daemon",
      ],
      env: {
        PROCSUP_HOME: this.home,
        NOTIFY_SOCKET: this.socket,
        INVOCATION_ID: "0123",
        PATH: `${this.#temp.path}:${Deno.env.get("PATH")}`,
        ...env,
      },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    await waitFor(() => this.client.call("ping").then(() => true, () => false));
  }

  async script(name: string, text: string) {
    const args = ["-c", text];
    return await this.client.call("start", { name, entrypoint: "/bin/sh", args, cwd: "/" });
  }

  async end(signal: Deno.Signal): Promise<void> {
    this.#daemon!.kill(signal);
    await this.#daemon!.status;
  }

  async pid(name: string): Promise<number> {
    return (await this.client.call("status", name)).pid;
  }

  log(name: string): Promise<string> {
    return wholeLog(`${this.home}/apps/${name}/stdout.log`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!await this.client.call("ping").then(() => true, () => false)) await this.start();
    await this.client.call("shutdown");
    await this.#daemon!.status;
    this.notify[Symbol.dispose]();
    await this.#temp[Symbol.asyncDispose]();
  }
}

const POLITE = 'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done';

Deno.test({
  name: "the daemon reports to its service manager when it is ready, alive and stopping",
  ignore,
  async fn() {
    await using scene = new ServiceScene();
    await scene.start({ WATCHDOG_USEC: "2000000" });
    await scene.notify.hears("READY=1");
    await scene.notify.hears("WATCHDOG=1");
    await scene.script("tells", "env; exec sleep 1000");
    await waitFor(async () => (await scene.log("tells")).includes("PROCSUP_ID="));
    const environment = await scene.log("tells");
    for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "INVOCATION_ID", "SYSTEMD_EXEC_PID"]) {
      assert(!environment.includes(name), `an app inherited ${name}`);
    }
    const pid = await scene.pid("tells");
    // Make room in its queue, which holds ten messages.
    scene.notify.read();
    await scene.end("SIGTERM");
    await scene.notify.hears("STOPPING=1");
    assert(isAlive(pid), "an app ended with the daemon");
  },
});

Deno.test({
  name: "SIGTERM stops the apps when the machine shuts down, and the next daemon starts them again",
  ignore,
  async fn() {
    await using scene = new ServiceScene();
    await scene.start();
    await scene.script("polite", POLITE);
    await scene.script("down", POLITE);
    await scene.client.call("stop", { target: "down" });
    await waitFor(async () => (await scene.log("polite")).includes("up"));
    const pid = await scene.pid("polite");
    scene.machineIs("stopping");
    await scene.end("SIGTERM");
    assert(!isAlive(pid));
    assertEquals(await scene.log("polite"), "up\nbye\n");
    const said = scene.notify.read().find((text) => text.includes("EXTEND_TIMEOUT_USEC="));
    assertStringIncludes(said ?? "", "STOPPING=1\n");

    scene.machineIs("running");
    await scene.start();
    await waitFor(async () => await scene.pid("polite") > 0);
    assert(await scene.pid("polite") !== pid);
    const { state, restarts } = await scene.client.call("status", "polite");
    assertEquals([state, restarts], ["running", 0]);
    assertEquals((await scene.client.call("status", "down")).state, "stopped");
  },
});

Deno.test({
  name: "the next daemon adopts running apps of a daemon that was killed while it stopped them",
  ignore,
  async fn() {
    await using scene = new ServiceScene();
    await scene.start();
    await scene.script("still", POLITE);
    await scene.script("ended", POLITE);
    await waitFor(async () => await scene.pid("still") > 0 && await scene.pid("ended") > 0);
    const [still, ended] = [await scene.pid("still"), await scene.pid("ended")];
    await waitFor(async () => (await scene.log("ended")).includes("up"));
    await scene.end("SIGKILL");
    writeState(`${scene.home}/state/boot`, "halted");
    Deno.kill(ended, "SIGTERM");
    await waitFor(() => !isAlive(ended));
    await scene.start();
    assertEquals(await scene.pid("still"), still);
    await waitFor(async () => await scene.pid("ended") > 0, { what: "the other to be started" });
    assert(await scene.pid("ended") !== ended);
  },
});
