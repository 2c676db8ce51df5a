import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Finding } from "../../src/cli/doctor_checks.ts";
import { serviceManager } from "../../src/platform/service_manager.ts";
import { mayMount } from "../support/executable.ts";
import { cli, denoDir, programWords, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

async function findings(home: string): Promise<{ code: number; found: Map<string, Finding> }> {
  const { code, stdout } = await cli(home, "doctor", "--json");
  const all = JSON.parse(stdout) as Finding[];
  return { code, found: new Map(all.map((finding) => [finding.check, finding])) };
}

Deno.test("doctor finds no problem with a daemon that answers", async () => {
  const { code, found } = await findings(daemon.home);
  assertEquals(code, 0);
  assertEquals(found.get("home")?.status, "ok");
  assertMatch(found.get("daemon")?.says ?? "", /^it answers, version \d/);
  assertEquals(found.get("state")?.status, "ok");
});

Deno.test("doctor's fix for a dead daemon's socket works", async () => {
  await daemon.kill();
  const { code, found } = await findings(daemon.home);
  const { status, says, fix } = found.get("daemon")!;
  assertEquals([code, status, says], [0, "warning", "a dead daemon left its socket"]);
  const words = fix!.split(" ");
  assertEquals(words.shift(), "procsup");
  assertEquals((await cli(daemon.home, ...words)).code, 0);
  assertEquals((await findings(daemon.home)).found.get("daemon")?.status, "ok");
  await daemon.client.call("release");
  await waitFor(async () => !await daemon.answers());
});

Deno.test("doctor distinguishes a hanging daemon from a missing one", async () => {
  Deno.kill(daemon.pid, "SIGSTOP");
  try {
    const { code, found } = await findings(daemon.home);
    assertEquals(code, 1);
    assertEquals(found.get("daemon")?.says, "it runs and does not answer");
    assertStringIncludes(found.get("daemon")?.fix ?? "", `kill -KILL ${daemon.pid} && procsup`);
  } finally {
    Deno.kill(daemon.pid, "SIGCONT");
  }
  await using home = tempHome();
  assertEquals((await findings(home.path)).found.get("daemon")?.says, "none runs");
});

Deno.test("doctor exits with 1 for an error, shows the fix, and checks that home no further", async () => {
  await using home = tempHome();
  Deno.chmodSync(home.path, 0o777);
  const { code, stdout } = await cli(home.path, "doctor");
  assertEquals(code, 1);
  assertMatch(stdout, /^✘ home +others may look into /m);
  assertStringIncludes(stdout, `fix: chmod 700 ${home.path}\n`);
  assert(!/^. daemon/m.test(stdout));
});

Deno.test({
  name: "doctor warns of a low limit on open files, and of a full disk",
  ignore: !mayMount,
  async fn() {
    await using home = tempHome();
    // A small file system that only this command sees.
    const script =
      'ulimit -n 1000; mount -t tmpfs -o size=2m,mode=700 none "$PROCSUP_HOME" && exec "$@"';
    const { code, stdout } = await new Deno.Command("unshare", {
      args: ["-m", "sh", "-c", script, "sh", ...programWords(), "doctor"],
      env: { PROCSUP_HOME: home.path, NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const text = new TextDecoder().decode(stdout);
    assertEquals(code, 1);
    assertMatch(text, /^✘ disk +only 2\.\d MB are left$/m);
    assertMatch(text, /^! open files +1000, which is low\n +fix: ulimit -Hn 65536$/m);
  },
});

Deno.test({
  name:
    "doctor recognizes a unit that is missing, fine, disabled, outdated, or points to a missing program",
  ignore: serviceManager() !== "systemd",
  async fn() {
    await using folder = tempHome();
    const home = `${folder.path}/.procsup`;
    const units = `${folder.path}/.config/systemd/user`;
    Deno.mkdirSync(`${units}/default.target.wants`, { recursive: true });
    const run = async (...args: string[]) => {
      const [program, ...words] = programWords();
      const { stdout } = await new Deno.Command(program!, {
        args: [...words, ...args],
        env: {
          HOME: folder.path,
          DENO_DIR: denoDir(),
          PROCSUP_HOME: home,
        },
        stdin: "null",
      }).output();
      return new TextDecoder().decode(stdout);
    };
    const boot = async () => {
      const all = JSON.parse(await run("doctor", "--json")) as Finding[];
      return all.find(({ check }) => check === "boot")!;
    };
    const unit = `${units}/procsup.service`;
    const install = "procsup startup install --user";
    assertMatch((await boot()).says, /does not start the daemon of this home at boot$/);

    const text = await run("startup", "--user");
    Deno.writeTextFileSync(unit, text);
    assertStringIncludes((await boot()).says, "exists, but is not enabled");
    Deno.symlinkSync(unit, `${units}/default.target.wants/procsup.service`);
    // If root runs the test, root's own unit would come first.
    assertEquals((await boot()).says, `${unit} starts the daemon`);

    Deno.writeTextFileSync(unit, text.replace("WatchdogSec", "TimeoutSec"));
    const { status, says, fix } = await boot();
    assertEquals([status, fix], ["warning", install]);
    assertStringIncludes(says, "differs from what this version writes");
    Deno.writeTextFileSync(unit, text.replace(/^ExecStart=\S+/m, "ExecStart=/gone/procsup"));
    assertStringIncludes((await boot()).says, "starts /gone/procsup, which is not there");
    const spaced = `${folder.path}/my apps`;
    Deno.writeTextFileSync(unit, text.replace(/^ExecStart=\S+/m, `ExecStart="${spaced}"`));
    assertStringIncludes((await boot()).says, `starts ${spaced}, which is not there`);
    Deno.writeTextFileSync(spaced, "");
    assertStringIncludes((await boot()).says, "differs from what this version writes");
    Deno.writeTextFileSync(unit, text.replaceAll(home, `${home}-2`));
    assertMatch((await boot()).says, /does not start the daemon of this home at boot$/);
  },
});
