import { assertEquals } from "@std/assert";
import type { Finding } from "../../../src/cli/doctor_checks.ts";
import { answered } from "../../../src/protocol/envelope.ts";
import { PEER_HEADER, PROTOCOL } from "../../../src/protocol/version.ts";
import { tempHome } from "../../support/temp_home.ts";
import { runCommandLine } from "../fake_daemon.ts";

Deno.test("doctor names the upgrade of an older daemon, and none to a program that is older", async () => {
  for (const [version, hasFix] of [["0.0.1", true], ["99.0.0", false]] as const) {
    await using home = tempHome();
    await using _server = Deno.serve({ path: `${home.path}/procsup.sock`, onListen() {} }, () => {
      const { envelope } = answered({ status: "ok", version, protocol: PROTOCOL });
      return Response.json(envelope, { headers: { [PEER_HEADER]: `${version} ${PROTOCOL}` } });
    });
    const { stdout } = await runCommandLine(["doctor", "--json"], { PROCSUP_HOME: home.path });
    const found = (JSON.parse(stdout) as Finding[]).find(({ check }) => check === "daemon");
    assertEquals([found?.status, found?.fix], ["warning", hasFix ? "procsup upgrade" : undefined]);
  }
});
