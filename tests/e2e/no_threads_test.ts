/** The daemon when the system gives it no more threads and processes. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { Client } from "../../src/client.ts";
import { ProcessLimit } from "../support/process_limit.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const ignore = !ProcessLimit.isPossible;

/** An older thread is permanent: threads that are only needed for the start have exited by then. */
const KEPT_S = 14;

/** Waits until the threads that are only needed for the start have exited. */
async function untilQuiet({ pid }: TestDaemon): Promise<void> {
  const isOld = (task: string) => {
    const stat = Deno.readTextFileSync(`/proc/${pid}/task/${task}/stat`);
    const startedS = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]) / 100;
    return !stat.includes("(tokio") || Deno.osUptime() - startedS > KEPT_S;
  };
  const tasks = () => [...Deno.readDirSync(`/proc/${pid}/task`)].map(({ name }) => name);
  await waitFor(() => tasks().every(isOld), { what: "threads to go" });
}

Deno.test(
  "a daemon without further threads answers, keeps its apps, and recovers once it gets some",
  {
    ignore,
  },
  async () => {
    await using daemon = await TestDaemon.start();
    await daemon.startScript("app", "echo up; exec sleep 1000");
    const { pid } = await daemon.status("app");
    await untilQuiet(daemon);
    using limit = new ProcessLimit(daemon.pid);
    limit.none();
    const client = new Client({ home: daemon.home });
    for (let round = 0; round < 5; round++) {
      const { code, stdout } = await daemon.cli("logs", "app");
      assertEquals([code, stdout.endsWith("up\n")], [0, true]);
      const [app, why] = await Promise.all([client.inspect("app"), client.why("app")]);
      assertEquals([app.pid, why.process.state], [pid, "running"]);
    }
    const waits = await daemon.startScript("other", "exec sleep 1000");
    assertEquals([waits.state, waits.pid], ["waiting", 0]);
    limit.lift();
    await waitFor(async () => (await daemon.status("other")).pid > 0, { what: "the launch" });
    await daemon.client.call("restart", { target: "app", wait: true });
    const lines = await Array.fromAsync(client.lines("app"));
    assertEquals(lines.map(({ line }) => line), ["up", "up"]);
  },
);

Deno.test("files that cannot be watched for lack of a thread are polled", {
  ignore,
}, async () => {
  await using sources = tempHome();
  await using daemon = await TestDaemon.start();
  await daemon.startScript("app", "exec sleep 1000", { cwd: sources.path, watch: ["."] });
  using limit = new ProcessLimit(daemon.pid);
  limit.none();
  Deno.mkdirSync(`${sources.path}/folder`);
  const log = () => Deno.readTextFileSync(`${daemon.home}/daemon.log`);
  await waitFor(() => log().includes("no more threads"), { what: "the warning" });
  assertStringIncludes(log(), "they are looked at every second");
  assertEquals([isAlive(daemon.pid), await daemon.answers()], [true, true]);
});
