/** The run folder. */

import { assertEquals } from "@std/assert";
import { RunFiles } from "../../src/platform/launch/run_files.ts";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

/** Waits for the exit status of a run. */
function awaitExit(files: RunFiles, runId: string): { status?: number } {
  const seen: { status?: number } = {};
  files.when(runId, "exit", (status) => seen.status = status);
  return seen;
}

Deno.test("RunFiles creates a removed folder again, and watches the new one", async () => {
  await using home = tempHome();
  const folder = `${home.path}/run`;
  Deno.mkdirSync(folder);
  const files = new RunFiles(folder);
  const seen = awaitExit(files, "a");
  Deno.removeSync(folder);
  await waitFor(() => lstatIfAny(folder)?.isDirectory, { what: "the folder" });
  Deno.writeTextFileSync(`${folder}/a.exit`, "7\n");
  await waitFor(() => seen.status === 7, { what: "the exit" });
  assertEquals(Deno.statSync(folder).mode! & 0o777, 0o700);
  files.close();
});

Deno.test("RunFiles.keep() watches the folder that replaced the old one", async () => {
  await using home = tempHome();
  const folder = `${home.path}/run`;
  Deno.mkdirSync(folder);
  const files = new RunFiles(folder);
  const seen = awaitExit(files, "a");
  Deno.renameSync(folder, `${folder}.old`);
  files.keep();
  Deno.writeTextFileSync(`${folder}/a.exit`, "7\n");
  await waitFor(() => seen.status === 7, { what: "the exit" });
  files.close();
});
