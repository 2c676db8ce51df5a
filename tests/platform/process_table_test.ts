import { assertEquals } from "@std/assert";
import { processesByRunId } from "../../src/platform/process_table.ts";
import { waitFor } from "../support/wait_for.ts";

Deno.test({
  name: "processesByRunId() finds a process that begins one program after another",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const runId = crypto.randomUUID();
    const again = ["-c", 'exec /bin/sh -c "$0" "$0"', 'exec /bin/sh -c "$0" "$0"'];
    const app = new Deno.Command("/bin/sh", { args: again, env: { PROCSUP_ID: runId } }).spawn();
    try {
      await waitFor(async () => (await processesByRunId()).has(runId));
      let missed = 0;
      for (let look = 0; look < 200; look++) {
        if (!(await processesByRunId()).has(runId)) missed++;
      }
      assertEquals(missed, 0);
    } finally {
      app.kill("SIGKILL");
      await app.status;
    }
  },
});
