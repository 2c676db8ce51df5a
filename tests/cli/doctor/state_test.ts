import { assertEquals, assertStringIncludes } from "@std/assert";
import { checkState } from "../../../src/cli/doctor/state.ts";
import { pathsIn, prepareHome } from "../../../src/platform/paths.ts";
import { copyOf, sealed, writeState } from "../../../src/platform/state_file.ts";
import { tempHome } from "../../support/temp_home.ts";

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
