import { assertEquals, assertStringIncludes } from "@std/assert";
import { checkState } from "../../../src/cli/doctor/state.ts";
import { pathsIn, prepareHome } from "../../../src/platform/paths.ts";
import { tempHome } from "../../support/temp_home.ts";

Deno.test("checkState() has nothing against a home that is empty, or in use", async () => {
  await using home = tempHome();
  assertEquals(checkState(home.path).map(({ status }) => status), ["ok"]);
  const { records } = prepareHome(home.path);
  // A record is a line for who it is, and one for each change.
  Deno.writeTextFileSync(`${records}/a.json`, '{"version":1}\n{"snapshot":{}}\n{"sna');
  assertEquals(checkState(home.path).map(({ status }) => status), ["ok"]);
});

Deno.test("checkState() names each file that cannot be read, or was set aside", async () => {
  await using home = tempHome();
  const { records, saved } = prepareHome(home.path);
  Deno.writeTextFileSync(`${records}/a.json`, '{"version":');
  Deno.writeTextFileSync(`${records}/b.json.unreadable`, "");
  Deno.writeTextFileSync(saved, "\0\0\0");
  const findings = checkState(home.path);
  assertEquals(findings.map(({ status }) => status), ["warning", "warning", "warning"]);
  assertStringIncludes(findings[0]!.says, `${records}/a.json cannot be read`);
  assertStringIncludes(findings[1]!.says, `${saved} cannot be read`);
  assertEquals(findings[2]!.fix, `rm ${records}/b.json.unreadable`);
});

Deno.test("checkState() says when a newer version was here", async () => {
  await using home = tempHome();
  prepareHome(home.path);
  const record = { pid: 1, version: "9.9.9", protocol: 9, state: 99, words: [], service: null };
  Deno.writeTextFileSync(`${pathsIn(home.path).home}/state/daemon.json`, JSON.stringify(record));
  const [found] = checkState(home.path);
  assertEquals(found?.status, "error");
  assertStringIncludes(found!.says, "version 9.9.9 wrote it, which is newer");
});
