/** The last health checks outlive the daemon. */

import { assertEquals, assertMatch } from "@std/assert";
import { KeptChecks } from "../../src/daemon/kept_checks.ts";
import { namesIn } from "../../src/platform/files/stat.ts";
import { Journal } from "../../src/process/journal.ts";
import { tempHome } from "../support/temp_home.ts";

const FAILED = { at: 1, latencyMs: 2, problem: "answered 503 · upstream timed out" };
const PASSED = { at: 2, latencyMs: 2, problem: "" };
const [NOW, SOON, LATER] = [1_000_000, 1_010_000, 1_200_000];

/** What a daemon has of a folder, with these processes. */
function daemonIn(folder: string, ...ids: string[]) {
  const warnings: string[] = [];
  const processes = ids.map((id) => ({ id, name: id, journal: new Journal() }));
  const supervisor = {
    directory: { list: () => processes },
    writes: { attempt: (_: string, write: () => void) => write() },
    warn: (message: string) => void warnings.push(message),
  };
  const kept = new KeptChecks(supervisor as never, folder);
  return { kept, warnings, processes, journal: processes[0]?.journal ?? new Journal() };
}

Deno.test("failures are written at once, other checks at times, and a killed daemon loses none of them", async () => {
  await using home = await tempHome();
  const folder = `${home.path}/checks`;
  const first = daemonIn(folder, "api");
  first.kept.write(NOW);
  first.journal.checked(FAILED);
  first.kept.write(SOON);
  assertEquals(daemonIn(folder, "api").journal.checks, [FAILED]);
  first.journal.checked(PASSED);
  first.kept.write(SOON + 10_000);
  assertEquals(daemonIn(folder, "api").journal.checks, [FAILED], "not worth a write yet");
  first.kept.write(LATER);
  const second = daemonIn(folder, "api");
  assertEquals(second.journal.checks, [FAILED, PASSED]);
  second.journal.checked({ ...FAILED, at: 3 });
  second.kept.write(NOW);
  assertEquals(daemonIn(folder, "api").journal.checks.map(({ at }) => at), [1, 2, 3]);
});

Deno.test("checks of a deleted app go, and a damaged file is set aside", async () => {
  await using home = await tempHome();
  const folder = `${home.path}/checks`;
  const first = daemonIn(folder, "api", "db");
  for (const { journal } of first.processes) journal.checked(FAILED);
  first.kept.write(NOW);
  assertEquals(namesIn(folder).sort(), ["api.json", "db.json"]);
  daemonIn(folder, "api").kept.write(NOW);
  assertEquals(namesIn(folder), ["api.json"]);
  Deno.writeTextFileSync(`${folder}/api.json`, "{");
  const { journal, warnings } = daemonIn(folder, "api");
  assertEquals(journal.checks, []);
  assertMatch(warnings.join(), /api\.json/);
});
