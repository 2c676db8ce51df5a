import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { serviceManager, systemdRuns } from "../../src/platform/service_manager.ts";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { mayMount } from "../support/executable.ts";
import { outputOf } from "../support/output_of.ts";
import {
  cli,
  denoDir,
  isAlive,
  programLine,
  programWords,
  TestDaemon,
} from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";

const ignore = serviceManager() !== "systemd";

/** A user's folder, with a fake `systemctl` and `loginctl` that record their arguments. */
class StartupScene implements AsyncDisposable {
  readonly #temp = tempHome();
  readonly folder = this.#temp.path;
  readonly home: string;
  readonly unit = `${this.folder}/.config/systemd/user/procsup.service`;
  /** Words before those that start procsup. */
  before: readonly string[] = [];

  constructor(home = `${this.folder}/.procsup`) {
    this.home = home;
    Deno.mkdirSync(`${this.folder}/bin`);
    this.fake(
      "systemctl",
      `case "$*" in
      --version) echo "systemd 257 (257.1)" ;;
      *restart*) ${programLine()} daemon >/dev/null 2>&1 & ;;
    esac`,
    );
    this.fake("loginctl", "exit 0");
  }

  fake(program: string, script: string): void {
    const path = `${this.folder}/bin/${program}`;
    const note = `[ "$1" = --version ] || echo "${program} $*" >>"${this.folder}/asked"`;
    Deno.writeTextFileSync(path, `#!/bin/sh\n${note}\n${script}\n`);
    Deno.chmodSync(path, 0o755);
  }

  async run(...words: string[]) {
    const [program, ...args] = [...this.before, ...programWords()];
    return await outputOf(
      new Deno.Command(program!, {
        args: [...args, "startup", ...words, "--user"],
        env: {
          HOME: this.folder,
          DENO_DIR: denoDir(),
          PATH: `${this.folder}/bin:${Deno.env.get("PATH")}`,
          PROCSUP_HOME: this.home,
          NO_COLOR: "1",
        },
        stdin: "null",
      }),
    );
  }

  asked(): string[] {
    try {
      return Deno.readTextFileSync(`${this.folder}/asked`).trim().split("\n");
    } catch {
      return [];
    }
  }

  written(): string | undefined {
    try {
      return Deno.readTextFileSync(this.unit);
    } catch {
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Where systemd runs, the fake systemctl had to start a daemon.
    await new DaemonClient(this.home).call("shutdown").catch(() => {});
    await this.#temp[Symbol.asyncDispose]();
  }
}

Deno.test({
  name: "startup prints the unit, and install writes nothing without a confirmation",
  ignore,
  async fn() {
    await using scene = new StartupScene();
    const shown = await scene.run();
    assertEquals(shown.code, 0);
    assertStringIncludes(shown.stdout, `--home ${scene.home}`);
    const install = await scene.run("install");
    assertEquals(install.code, 2);
    assertStringIncludes(install.stderr, "Nothing was written: confirmation needs a terminal");
    assertStringIncludes(install.stderr, "hint: procsup startup install --yes");
    assertEquals(scene.written(), undefined);
    assertEquals(scene.asked(), []);
  },
});

Deno.test({
  name:
    "startup install prints, writes and enables the unit; status shows it; uninstall removes it",
  ignore,
  async fn() {
    await using scene = new StartupScene();
    assertEquals((await scene.run("status")).code, 3);
    const before = await scene.run("status", "--json");
    const seen = { path: scene.unit, installed: false, current: false, running: false };
    assertEquals([before.code, JSON.parse(before.stdout)], [3, seen]);
    const { code, stdout, stderr } = await scene.run("install", "--yes");
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, `✔ wrote ${scene.unit}`);
    // Everything was printed before.
    const text = scene.written() ?? "";
    assertStringIncludes(stderr, text);
    for (const words of scene.asked()) assertStringIncludes(stderr, `  ${words}\n`);
    assertMatch(text, /^DelegateSubgroup=daemon$/m);
    const enable = "systemctl --user enable procsup.service";
    const live = [
      "systemctl --user daemon-reload",
      enable,
      "systemctl --user restart procsup.service",
    ];
    assertEquals(scene.asked(), systemdRuns() ? [...live, "loginctl enable-linger"] : [enable]);

    assertEquals((await scene.run("status")).code, 0);
    Deno.writeTextFileSync(scene.unit, text.replace("RestartSec=500ms", "RestartSec=9"));
    const other = await scene.run("status");
    assertStringIncludes(other.stdout, "differs from what this version writes");
    assertStringIncludes(other.stderr, "procsup startup install");

    const refused = await scene.run("uninstall");
    assertEquals(refused.code, 2);
    assertStringIncludes(refused.stderr, "Nothing was removed");
    assert(scene.written() !== undefined);
    assertEquals((await scene.run("uninstall", "--yes")).code, 0);
    assertEquals(scene.written(), undefined);
    assert(scene.asked().includes("systemctl --user disable procsup.service"));
    assertStringIncludes((await scene.run("uninstall", "--yes")).stdout, "Nothing to remove");
  },
});

Deno.test({
  name: "startup install fails when systemctl does, and names the step",
  ignore,
  async fn() {
    await using scene = new StartupScene();
    scene.fake("systemctl", 'case "$*" in *enable*) echo "Access denied" >&2; exit 1 ;; esac');
    const { code, stderr } = await scene.run("install", "--yes");
    assertEquals(code, 1);
    assertStringIncludes(stderr, "Access denied");
    assertStringIncludes(stderr, "It failed: systemctl --user enable procsup.service");
  },
});

Deno.test({
  name: "startup install names the home whose unit it replaces, and rejects an unsafe home",
  ignore,
  async fn() {
    await using scene = new StartupScene();
    assertEquals((await scene.run("install", "--yes")).code, 0);
    await using second = new StartupScene();
    Deno.mkdirSync(second.unit.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.copyFileSync(scene.unit, second.unit);
    assertStringIncludes(
      (await second.run("install", "--yes")).stderr,
      "in place of another home's",
    );
    assertStringIncludes(
      (await second.run("install", "--yes")).stderr,
      "in place of the one there",
    );
    Deno.mkdirSync(second.home, { recursive: true });
    Deno.chmodSync(second.home, 0o755);
    const { code, stderr } = await second.run("install", "--yes");
    assertEquals(code, 2);
    assertStringIncludes(stderr, `others may look into ${second.home}`);
    assertStringIncludes(stderr, `hint: chmod 700 ${second.home}`);
  },
});

Deno.test({
  name: "startup install leaves a running daemon alone where no service manager could restart it",
  ignore: ignore || systemdRuns(),
  async fn() {
    await using daemon = await TestDaemon.start();
    await using scene = new StartupScene(daemon.home);
    const { pid } = await daemon.startScript("app", "exec sleep 1000");
    const { code, stderr } = await scene.run("install", "--yes");
    assertEquals(code, 0, stderr);
    assert(await daemon.answers());
    assert(isAlive(pid));
  },
});

Deno.test({
  name: "startup install starts the daemon again that it ended for a service that does not start",
  ignore: !mayMount,
  async fn() {
    await using scene = new StartupScene();
    const runs = "mount -t tmpfs none /run && mkdir -p /run/systemd/system";
    scene.before = ["unshare", "-m", "sh", "-c", `${runs} && exec "$@"`, "sh"];
    scene.fake("systemctl", 'case "$*" in *restart*) exit 1 ;; esac');
    assertEquals((await cli(scene.home, "daemon", "--detach")).code, 0);
    const { code, stderr } = await scene.run("install", "--yes");
    assertStringIncludes(stderr, "It failed: systemctl --user restart procsup.service");
    assertStringIncludes(stderr, "The daemon was started again, as before\n");
    assertEquals([code, (await cli(scene.home, "ping")).code], [1, 0]);
  },
});

Deno.test({
  name: "startup as root neither writes nor removes a unit through the links of a user",
  ignore: ignore || Deno.uid() !== 0,
  async fn() {
    await using scene = new StartupScene();
    await using theirs = tempHome();
    const unit = `${theirs.path}/procsup.service`;
    Deno.writeTextFileSync(unit, "");
    Deno.mkdirSync(`${scene.folder}/.config/systemd`, { recursive: true });
    Deno.symlinkSync(theirs.path, `${scene.folder}/.config/systemd/user`);
    Deno.chownSync(`${scene.folder}/.config`, 65534, 65534);
    for (const verb of ["install", "uninstall"]) {
      const { code, stderr } = await scene.run(verb, "--yes");
      assertEquals(code, 7);
      assertStringIncludes(stderr, `"${scene.folder}/.config" belongs to user 65534`);
    }
    assertEquals([Deno.readTextFileSync(unit), scene.asked()], ["", []]);
  },
});
