/** The last output of a failed run. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { lastWords, portHint, takenPortHint } from "../../src/manager/last_words.ts";
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

Deno.test("a port that procsup holds for the app itself is no port in use", () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = String(listener.addr.port);
  const ended = { ...NEW, desired: "up", lastExit: { code: 0, signal: null, at: new Date() } };
  const hint = (sockets: string[]) => {
    const words = { name: "app", entrypoint: "/bin/sleep", cwd: "/", env: { PORT: port }, sockets };
    const process = { config: parseConfig(words), snapshot: ended } as unknown as ManagedProcess;
    return takenPortHint(process, { errorLine: undefined, lastOutput: [] });
  };
  assertStringIncludes(hint([])!.text!, `Port ${port}, its PORT, is in use`);
  assertEquals(hint([`127.0.0.1:${port}`]), undefined);
  const said = [`Error: listen EADDRINUSE: address already in use 127.0.0.1:${port}`];
  assertEquals(
    portHint({ name: "api", instances: 1, sockets: [port] }, said),
    {
      text:
        `Port ${port} is among its sockets: it inherits the socket from descriptor 3 on, and opens none`,
    },
  );
});
