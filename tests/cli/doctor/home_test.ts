import { assertEquals, assertStringIncludes } from "@std/assert";
import { checkHome, checkOwners, checkState, runs } from "../../../src/cli/doctor_checks.ts";
import { tempHome } from "../../support/temp_home.ts";
import { pathsIn, prepareHome } from "../../../src/platform/files/paths.ts";
import { copyOf, sealed, writeState } from "../../../src/platform/files/state_file.ts";

Deno.test("checkHome() accepts a private home, or one that does not exist yet", async () => {
  await using home = tempHome();
  assertEquals(checkHome(home.path).status, "ok");
  assertEquals(checkHome(`${home.path}/later`).status, "ok");
});

Deno.test("checkHome() reports access by other users, and the command that removes it", async () => {
  await using home = tempHome();
  Deno.chmodSync(home.path, 0o750);
  const { status, says, fix } = checkHome(home.path);
  assertEquals([status, fix], ["error", `chmod 700 ${home.path}`]);
  assertEquals(says, `others may look into ${home.path}`);
  const { code } = await new Deno.Command("sh", { args: ["-c", fix!] }).output();
  assertEquals(code, 0);
  assertEquals(checkHome(home.path).status, "ok");
});

Deno.test("checkHome() rejects a file, a link, and a path that is too long for a socket", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/it's a file`;
  Deno.writeTextFileSync(file, "");
  assertEquals(checkHome(file).status, "error");
  await new Deno.Command("sh", { args: ["-c", checkHome(file).fix!] }).output();
  assertEquals(checkHome(file).says, `${file} does not exist yet; the first start creates it`);
  const link = `${folder.path}/link`;
  Deno.symlinkSync(folder.path, link);
  assertEquals(checkHome(link).status, "error");
  Deno.writeTextFileSync(file, "");
  const below = checkHome(`${file}/home`);
  assertEquals(below.says, `${file}/home cannot be reached: Not a directory (os error 20)`);
  assertEquals(runs(`${file}/home`), false);
  const long = checkHome(`${folder.path}/${"x".repeat(100)}`);
  assertEquals(long.status, "error");
  assertStringIncludes(long.says, "set PROCSUP_HOME to a shorter path");
});

Deno.test({
  name: "checkHome() and checkOwners() find files that sudo left behind",
  ignore: Deno.uid() !== 0,
  async fn() {
    await using home = tempHome();
    Deno.mkdirSync(`${home.path}/apps/web`, { recursive: true });
    Deno.writeTextFileSync(`${home.path}/apps/web/stdout.log`, "");
    assertEquals(checkOwners(home.path), []);
    Deno.chownSync(`${home.path}/apps/web/stdout.log`, 65534, null);
    const [found] = checkOwners(home.path);
    assertEquals(found?.status, "error");
    assertStringIncludes(found!.says, "1 files in it belong to another user");
    assertStringIncludes(found!.says, "/apps/web/stdout.log");
    await new Deno.Command("sh", { args: ["-c", found!.fix!.replace("sudo ", "")] }).output();
    assertEquals(checkOwners(home.path), []);
    Deno.chownSync(home.path, 65534, null);
    assertStringIncludes(checkHome(home.path).says, "belongs to user 65534");
  },
});

Deno.test("checkOwners() finds a token that other users can read", async () => {
  await using home = tempHome();
  Deno.writeTextFileSync(`${home.path}/token`, "secret", { mode: 0o600 });
  assertEquals(checkOwners(home.path), []);
  Deno.chmodSync(`${home.path}/token`, 0o644);
  const path = `${home.path}/token`;
  const says = `others may read ${path}`;
  const expected = { check: "secrets", status: "error" as const, says, fix: `chmod 600 ${path}` };
  assertEquals(checkOwners(home.path), [expected]);
});

Deno.test("checkState() accepts a home that is empty or in use", async () => {
  await using home = tempHome();
  assertEquals(checkState(home.path).map(({ status }) => status), ["ok"]);
  const { records, web } = prepareHome(home.path);
  // A record has one line for its identity and one for each change.
  const lines = [sealed({ version: 1 }), sealed({ snapshot: {} })];
  Deno.writeTextFileSync(`${records}/a.json`, lines.join("\n"));
  writeState(web, { listen: "127.0.0.1:0" });
  assertEquals(checkState(home.path).map(({ status }) => status), ["ok"]);
});

Deno.test("checkState() names each file that is unreadable or was set aside", async () => {
  await using home = tempHome();
  const { records, saved, tokens, cron } = prepareHome(home.path);
  Deno.writeTextFileSync(`${records}/a.json`, `${sealed({})}\n${sealed({}).replace("{", "|")}`);
  Deno.writeTextFileSync(`${records}/b.json.unreadable`, "");
  Deno.writeTextFileSync(saved, "\0\0\0");
  Deno.writeTextFileSync(copyOf(tokens), "");
  Deno.mkdirSync(`${cron}/c.json`, { recursive: true });
  const findings = checkState(home.path);
  assertEquals(new Set(findings.map(({ status }) => status)), new Set(["warning"]));
  assertEquals(findings.map(({ says }) => says), [
    `${saved} is damaged, and will be set aside`,
    `${records}/a.json is damaged, and will be set aside`,
    `${cron}/c.json cannot be read: Is a directory (os error 21)`,
    `${copyOf(tokens)} is damaged, and will be set aside`,
    `${records}/b.json.unreadable was damaged, and was set aside`,
  ]);
  assertEquals(findings.at(-1)!.fix, `rm ${records}/b.json.unreadable`);
});

Deno.test("checkState() reports that a newer version ran here", async () => {
  await using home = tempHome();
  prepareHome(home.path);
  const record = { pid: 1, version: "9.9.9", protocol: 9, state: 99, words: [], service: null };
  Deno.writeTextFileSync(`${pathsIn(home.path).home}/state/daemon.json`, sealed(record));
  const [found] = checkState(home.path);
  assertEquals(found?.status, "error");
  assertStringIncludes(found!.says, "version 9.9.9 wrote it, which is newer");
});
