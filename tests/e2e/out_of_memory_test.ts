/** An app that the kernel kills for lack of memory: told by its name, also by the next daemon. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { ifPossible } from "../../src/model/errors.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const LIMIT = 32 * 1024 * 1024;

/** A control group with little memory; undefined where none can be made. */
function smallGroup(): (Disposable & { readonly path: string }) | undefined {
  for (const [root, file] of [["/memory", "memory.limit_in_bytes"], ["", "memory.max"]] as const) {
    const path = `/sys/fs/cgroup${root}/procsup-test-oom-${Deno.pid}`;
    const group = ifPossible(() => {
      Deno.mkdirSync(path);
      Deno.writeTextFileSync(`${path}/${file}`, `${LIMIT}`);
      return { path, [Symbol.dispose]: () => Deno.removeSync(path) };
    });
    if (group !== undefined) return group;
    ifPossible(() => Deno.removeSync(path));
  }
  return undefined;
}

function isPossible(): boolean {
  const isLogged = new Deno.Command("sh", { args: ["-c", "dmesg >/dev/null 2>&1"] }).outputSync();
  using group = isLogged.success ? smallGroup() : undefined;
  // deno-lint-ignore no-console
  if (group === undefined) console.log("skipped: it needs a memory control group and dmesg");
  return group !== undefined;
}

Deno.test(
  "an app that the kernel kills for lack of memory has this reason, also for the next daemon",
  {
    ignore: Deno.build.os !== "linux" || !isPossible(),
  },
  async () => {
    using group = smallGroup()!;
    await using daemon = await TestDaemon.start();
    const gate = `${daemon.home}/gate`;
    const hungry =
      `echo $$ >${group.path}/cgroup.procs; until [ -e ${gate} ]; do sleep 0.05; done; exec tail /dev/zero`;
    const start = (name: string) =>
      daemon.startScript(name, hungry, { restart_policy: "never", min_uptime: "100ms" });
    const told = async (name: string) => {
      const { last_exit } = await daemon.status(name);
      assertEquals([last_exit?.signal, last_exit?.oom], ["SIGKILL", true]);
      const why = await daemon.cli("why", name);
      assertStringIncludes(why.stdout, "out of memory");
      const events = await daemon.cli("events", name, "--since", "1h", "-o", "json");
      const crashed = JSON.parse(events.stdout).find(({ type }: { type: string }) =>
        type === "crashed"
      );
      assertEquals([crashed?.cause, crashed?.exit.oom], ["oom", true]);
    };
    await start("app");
    Deno.writeTextFileSync(gate, "");
    await waitFor(async () => (await daemon.status("app")).state === "crashed");
    await told("app");
    Deno.removeSync(gate);
    const { pid } = await start("next");
    await daemon.kill();
    Deno.writeTextFileSync(gate, "");
    await waitFor(() => !isAlive(pid));
    await daemon.revive();
    await waitFor(async () => (await daemon.status("next")).state === "crashed");
    await told("next");
  },
);
