import { assertEquals, assertRejects } from "@std/assert";
import { replaceDaemon } from "../../src/cli/commands/upgrade.ts";
import { type DaemonRecord, readDaemonRecord } from "../../src/platform/daemon_record.ts";
import { sealed } from "../../src/platform/files/state_file.ts";
import { PROTOCOL, VERSION } from "../../src/protocol/version.ts";
import { tempHome } from "../support/temp_home.ts";
import { FakeDaemon } from "./fake_daemon.ts";

Deno.test("replaceDaemon() waits for the service's next daemon while the old one still answers with the same version", async () => {
  const record = (pid: number): DaemonRecord => ({
    ...{ pid, version: VERSION, protocol: PROTOCOL, state: 1 },
    ...{ words: ["/bin/procsup"], service: "systemd" },
  });
  const write = (pid: number) =>
    Deno.writeTextFileSync(`${daemon.home}/state/daemon.json`, sealed(record(pid)));
  await using daemon = new FakeDaemon({
    ping: () => ({ status: "ok", version: VERSION, protocol: PROTOCOL }),
    release: () => {
      setTimeout(() => write(2), 50);
      return { status: "released", pid: 1 };
    },
  });
  Deno.mkdirSync(`${daemon.home}/state`);
  write(1);
  await replaceDaemon(daemon.home, record(1));
  assertEquals(readDaemonRecord(daemon.home)?.pid, 2);
});

Deno.test("replaceDaemon() does not wait for itself if the daemon is gone by then", async () => {
  await using home = tempHome();
  await assertRejects(() => replaceDaemon(home.path, undefined), Error, "No daemon answers");
});
