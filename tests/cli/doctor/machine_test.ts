import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  atLeast,
  checkClock,
  checkDisk,
  checkLimits,
  checkUnpacked,
  judgeSpace,
} from "../../../src/cli/doctor_checks.ts";
import { parseSize } from "../../../src/model/size.ts";
import { takeLock } from "../../../src/platform/files/lock.ts";
import { defaultHome, prepareHome } from "../../../src/platform/files/paths.ts";
import { sealed } from "../../../src/platform/files/state_file.ts";
import { isInstalled } from "../../support/installed.ts";
import { tempHome } from "../../support/temp_home.ts";
import { waitFor } from "../../support/wait_for.ts";

Deno.test("judgeSpace() warns early, and names the largest logs", () => {
  const logs = { name: "web", bytes: parseSize("3.1GB") };
  const home = defaultHome();
  const total = 1e12;
  assertEquals(judgeSpace(home, { total, available: 9e11 }, logs).status, "ok");
  const nearly = judgeSpace(home, { total, available: parseSize("200MB") }, logs);
  assertEquals([nearly.status, nearly.fix], ["warning", "procsup flush web"]);
  const other = judgeSpace("/srv/my home", { total, available: 1e6 }, logs);
  assertEquals(other.fix, "procsup flush --home '/srv/my home' web");
  assertEquals(nearly.says, "200 MB are left; the logs of web take 3.1 GB");
  assertEquals(judgeSpace(home, { total, available: 1e6 }, logs).status, "error");
  assertEquals(judgeSpace(home, { total, available: 1e6 }).fix, undefined);
});

Deno.test("checkDisk() checks the file system that holds the home, even before it exists", async () => {
  await using home = tempHome();
  const [now] = await checkDisk(home.path);
  const [later] = await checkDisk(`${home.path}/not/there/yet`);
  assert(now !== undefined && later !== undefined);
  assertEquals(later.status, now.status);
});

Deno.test("checkClock() finds a clock that was never set, and one that went back", async () => {
  await using home = tempHome();
  const { daemonLog } = prepareHome(home.path);
  assertEquals(checkClock(home.path).status, "ok");
  const never = checkClock(home.path, 0);
  assertEquals(never.status, "error");
  assertStringIncludes(never.says, "1970-01-01");
  Deno.writeTextFileSync(daemonLog, "");
  const ahead = new Date(Date.now() + 2 * 3_600_000 + 5000);
  Deno.utimeSync(daemonLog, ahead, ahead);
  const back = checkClock(home.path);
  assertEquals([back.status, back.fix], ["error", "sudo timedatectl set-ntp true"]);
  assertStringIncludes(back.says, `${daemonLog} is from 2h ahead`);
});

Deno.test("atLeast() warns about low values, and says nothing about unknown ones", () => {
  assertEquals(atLeast("files", 5000, 4096, "fix")[0]!.status, "ok");
  assertEquals(atLeast("files", Infinity, 4096, "fix")[0]!.says, "no limit");
  const [few] = atLeast("files", 256, 4096, "fix it");
  assertEquals(few, {
    check: "files",
    status: "warning",
    says: "256, which is low",
    fix: "fix it",
  });
  assertEquals(atLeast("files", NaN, 4096, "fix"), []);
});

Deno.test({
  name: "checkLimits() checks this machine",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using home = tempHome();
    const checks = checkLimits(home.path).map(({ check }) => check);
    const expected = ["open files", "processes", "inotify watches", "inotify instances"];
    assertEquals(checks.slice(0, 4), expected);
  },
});

Deno.test({
  name: "the fixes of checkLimits() are commands that prlimit understands",
  ignore: Deno.build.os !== "linux" || !isInstalled("prlimit"),
  async fn() {
    await using home = tempHome();
    prepareHome(home.path);
    using _running = takeLock(`${home.path}/daemon.lock`);
    const limited = ["--nofile=256", "--nproc=100", "sleep", "60"];
    await using daemon = new Deno.Command("prlimit", { args: limited, stdin: "null" }).spawn();
    const record = sealed({ pid: daemon.pid, words: [] });
    Deno.writeTextFileSync(`${home.path}/state/daemon.json`, record);
    const fixes = () =>
      checkLimits(home.path).flatMap(({ fix = "" }) => fix.includes("prlimit") ? [fix] : []);
    await waitFor(() => fixes().length === 2);
    for (const fix of fixes()) {
      const { stderr } = await new Deno.Command("sh", { args: ["-c", fix.replace("sudo ", "")] })
        .output();
      // Only root may raise a limit, and not in every container.
      assertMatch(new TextDecoder().decode(stderr), /^$|Operation not permitted/);
    }
    daemon.kill("SIGKILL");
  },
});

Deno.test("checkUnpacked() finds old versions, and not the one in use", async () => {
  await using home = tempHome();
  await using cache = tempHome();
  const folder = (digit: string) => `${cache.path}/${digit.repeat(64)}`;
  for (const digit of ["a", "b", "c", "d"]) {
    Deno.mkdirSync(folder(digit));
    Deno.writeFileSync(`${folder(digit)}/deno`, new Uint8Array(100_000));
  }
  prepareHome(home.path);
  // The running daemon may be of the previous version.
  const words = [`${folder("b")}/deno`, "run"];
  Deno.writeTextFileSync(`${home.path}/state/daemon.json`, sealed({ words }));
  // Another home's daemon, unknown here, may be of yet another version.
  using _held = takeLock(`${folder("d")}/.used`);
  const [found] = checkUnpacked(home.path, folder("a"));
  assertEquals(found?.status, "warning");
  assertStringIncludes(found!.says, "1 old one left behind, 10");
  assertEquals(found!.fix, `rm -r ${folder("c")}`);
  await new Deno.Command("sh", { args: ["-c", found!.fix!] }).output();
  assertEquals(checkUnpacked(home.path, folder("a"))[0]!.status, "ok");
  assertEquals(checkUnpacked(home.path, undefined), []);
});
