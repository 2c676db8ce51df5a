/** How a program can rely on the command line. */

import { fromFileUrl } from "@std/path";
import { assertEquals } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { PEER_HEADER, PROTOCOL } from "../../src/protocol/version.ts";
import { denoDir } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { FakeDaemon, fakeProcess, runCommandLine } from "./fake_daemon.ts";

Deno.test("procsup --json prints one JSON value on success and failure", async () => {
  const missing = () => {
    throw new ProcsupError("process_not_found", "process not found");
  };
  const file = Deno.makeTempFileSync({ suffix: ".yaml" });
  await using daemon = new FakeDaemon({
    status: missing,
    stop: missing,
    start: missing,
    list: () => [fakeProcess()],
    ping: () => ({ status: "ok", version: "0.0.0", protocol: 1 }),
    scale: () => ({ status: "scaled", results: [] }),
    shutdown: () => ({ status: "stopped", results: [] }),
  });
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await daemon.run(...words, "--json");
    return { code, json: JSON.parse(stdout), stderr };
  };
  for (const words of [["status", "x"], ["stop", "x", "y"], ["start", "x"], ["list", "x"]]) {
    const { code, json, stderr } = await run(...words);
    assertEquals([code, json.code], [4, "process_not_found"], words.join(" "));
    assertEquals(stderr.startsWith("error: "), true);
  }
  assertEquals((await run("config", "plan", file)).json.code, "invalid_config");
  assertEquals((await run("scale", "api", "1")).json, { status: "scaled", results: [] });
  assertEquals((await run("shutdown", "--yes")).json, { status: "stopped", results: [] });
  assertEquals((await run("logs")).json, []);
  assertEquals((await run("events", "-n", "0")).json, []);
  for (const words of [["doctor"], ["list", "--on", "swarm"]]) {
    assertEquals((await run(...words, "--host", "x")).json.code, "bad_request");
  }
  Deno.removeSync(file);
});

Deno.test("procsup ends by SIGPIPE when the reader of its output is gone", async () => {
  await using daemon = new FakeDaemon({ status: () => fakeProcess() });
  const main = fromFileUrl(import.meta.resolve("../../main.ts"));
  for (const words of ["status api", "status api --json", "nonsense 2>&1"]) {
    const script = `("$0" run -A "$1" ${words}; echo $? >&3) | true`;
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", `(${script}) 3>&1`, Deno.execPath(), main],
      env: { PROCSUP_HOME: daemon.home },
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "141\n", words);
  }
});

Deno.test("procsup resolves a relative HOME against the working directory", async () => {
  const cwd = Deno.realPathSync(Deno.makeTempDirSync());
  const { stderr } = await runCommandLine(["ping"], {
    HOME: "rel",
    PROCSUP_HOME: "",
    DENO_DIR: denoDir(),
  }, cwd);
  assertEquals(stderr.split("\n")[0], `error: No daemon answers for home "${cwd}/rel/.procsup"`);
  Deno.removeSync(cwd, { recursive: true });
});

Deno.test("a command says once that the daemon has another version, however often it asks", async () => {
  await using daemon = new FakeDaemon({
    web_start: () => ({ status: "started", addr: "127.0.0.1:1" }),
    web_link: () => ({ url: "http://127.0.0.1:1/#/login?code=x", expires_in_seconds: 60 }),
  });
  daemon.headers = { [PEER_HEADER]: `0.0.1 ${PROTOCOL}` };
  const { stderr } = await daemon.run("web");
  assertEquals(stderr.match(/The daemon is version 0\.0\.1/g)?.length, 1, stderr);
});

Deno.test("procsup up prints the failures of apps in every format", async () => {
  await using home = tempHome();
  Deno.writeTextFileSync(`${home.path}/procsup.yaml`, "processes: [{ name: bad, command: x }]");
  const failed = { name: "bad", ok: false, state: "errored", pid: 0, error: "no", code: "timeout" };
  const none = { changed: [], removed: [], kept: [], unchanged: [], stopped: [] };
  await using daemon = new FakeDaemon({
    config_reload: () => ({
      status: "failed",
      added: ["bad"],
      ...{ ...none, changes: [], settings: [] },
      errors: ["no"],
      results: [failed],
    }),
  });
  for (const format of ["table", "wide", "name", "json"]) {
    const words = ["up", `${home.path}/procsup.yaml`, "-o", format];
    const { code, stderr } = await daemon.run(...words);
    assertEquals([code, stderr], [124, "✘ bad  no\n  hint: procsup why bad\n"], format);
  }
});
