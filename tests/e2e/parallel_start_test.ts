/** Many commands at once on a home that does not exist yet. */

import { assert, assertEquals } from "@std/assert";
import { isFree } from "../../src/platform/files/lock.ts";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { commandOf, livingWith } from "../fixtures/run_members.ts";
import { cli, programWords } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const STARTS = 10;

Deno.test("10 concurrent starts on an empty home create one daemon and 10 apps", async () => {
  await using temp = tempHome();
  const home = `${temp.path}/home`;
  const names = Array.from({ length: STARTS }, (_, index) => `app-${index}`);
  try {
    const starts = names.map((name) =>
      cli(home, "start", "--name", name, "--min-uptime", "100ms", "--", "sleep", "1000")
    );
    const results = await Promise.all(starts);
    assertEquals(results.filter(({ code }) => code !== 0), []);
    const processes = await new DaemonClient(home).call("list");
    assertEquals(processes.map(({ name }) => name).toSorted(), names.toSorted());
    assertEquals(new Set(processes.map(({ state }) => state)), new Set(["running"]));
    // None is still on its way: it would take the home after the shutdown.
    assertEquals(daemonsOf(home).length, 1);
  } finally {
    await cli(home, "shutdown", "--yes");
  }
  await waitFor(() => daemonsOf(home).length === 0, { what: "no daemon" });
});

Deno.test("start waits for a daemon that is ending, and then starts one", async () => {
  await using temp = tempHome();
  const { lock } = pathsIn(temp.path);
  const ending = Deno.openSync(lock, { write: true, create: true, mode: 0o600 });
  ending.lockSync(true);
  const start = cli(temp.path, "start", "--name", "app", "--no-wait", "--", "sleep", "1000");
  try {
    await waitFor(() => daemonsOf(temp.path).length === 1, {
      what: "a daemon that finds it taken",
    });
    await waitFor(() => daemonsOf(temp.path).length === 0, { what: "its end" });
    ending.close();
    const { code, stderr } = await start;
    assertEquals(code, 0, stderr);
  } finally {
    await cli(temp.path, "shutdown", "--yes");
  }
  assert(isFree(lock));
  await waitFor(() => daemonsOf(temp.path).length === 0, { what: "no daemon" });
});

/** The pids of a home's daemons, by environment and command line. */
function daemonsOf(home: string): number[] {
  const program = programWords().at(-1)!;
  return livingWith(`PROCSUP_HOME=${home}`).filter((pid) => {
    const command = commandOf(pid);
    // The portable form runs its unpacked files.
    const own = command.includes(program) || command.includes("portable_entry.js");
    return own && / daemon( |$)/.test(command);
  });
}
