import { assertEquals, assertStringIncludes } from "@std/assert";
import { checkHome, checkOwners } from "../../../src/cli/doctor/home.ts";
import { tempHome } from "../../support/temp_home.ts";

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
