/** The last output of a failed run. */

import { assertEquals } from "@std/assert";
import { lastWords } from "../../src/manager/last_words.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import { NEW } from "../../src/model/process_state.ts";
import { Journal } from "../../src/process/journal.ts";
import type { ManagedProcess } from "../../src/process/managed_process.ts";
import { tempHome } from "../support/temp_home.ts";

Deno.test("lastWords() is about the run that has failed, however the next one ends meanwhile", async () => {
  await using home = tempHome();
  const logs = { stdout: `${home.path}/stdout.log`, stderr: `${home.path}/stderr.log` };
  Deno.writeTextFileSync(logs.stdout, "");
  Deno.writeTextFileSync(logs.stderr, "giving up on its settings\n");
  const exit = (code: number | null, signal: "SIGTERM" | null) => {
    return { ...NEW, lastExit: { code, signal, at: new Date() } };
  };
  const process = {
    config: parseConfig({ name: "app", entrypoint: "/bin/sleep", cwd: "/" }),
    journal: new Journal(),
    logs,
    snapshot: exit(1, null),
  };
  const reading = lastWords(process as unknown as ManagedProcess);
  process.snapshot = exit(143, "SIGTERM");
  assertEquals((await reading).errorLine, "giving up on its settings");
});
