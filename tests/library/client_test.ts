/** `./client` with a live daemon, over its socket and its web listener. */

import { assert, assertEquals } from "@std/assert";
import { Client } from "../../src/client.ts";
import type { ProcessChange } from "../../src/client.ts";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";
import { codeOf, thrownCode } from "./support.ts";

const APP = { name: "app", binary: "/bin/sh", args: ["-c", "echo hi; exec sleep 1000"], cwd: "/" };

const WAYS: readonly { name: string; connect: (daemon: TestDaemon) => Promise<Client> }[] = [
  { name: "the socket", connect: ({ home }) => Promise.resolve(new Client({ home })) },
  { name: "a URL", connect: overUrl },
];

async function overUrl({ client }: TestDaemon): Promise<Client> {
  const { url } = await client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await client.call("token");
  return new Client({ url, token });
}

for (const { name, connect } of WAYS) {
  Deno.test(`Client supports every verb over ${name}`, async () => {
    await using daemon = await TestDaemon.start();
    const client = await connect(daemon);
    assertEquals((await client.ping()).status, "ok");
    assertEquals(await client.list(), []);

    const told: ProcessChange[] = [];
    const stop = new AbortController();
    const events = await client.events({ signal: stop.signal });
    const ended = (async () => {
      for await (const change of events) told.push(change);
    })();

    const started = await client.start({ ...APP, restartPolicy: "never" }, { wait: true });
    assertEquals([started.name, started.state], ["app", "running"]);
    assertEquals((await client.inspect("app")).config.restartPolicy, "never");
    for await (const { line, stream } of started.lines({ follow: true })) {
      assertEquals([line, stream], ["hi", "stdout"]);
      break;
    }
    await client.restart("app");
    await client.reload("app");
    await client.stop("app", { timeout: "2s" });
    assertEquals((await client.inspect("app")).state, "stopped");
    assertEquals((await client.start("app")).state, "running");
    assertEquals(await client.save(), 1);
    await client.remove("all");
    assertEquals((await client.resurrect()).count, 1);

    assertEquals(await codeOf(client.inspect("nobody")), "process_not_found");
    assertEquals(await codeOf(client.start(APP)), "name_taken");
    const dies = { name: "dies", binary: "/bin/false", cwd: "/", restartPolicy: "never" } as const;
    await client.start(dies, { wait: true }).catch(() => {});
    assertEquals(await codeOf(client.restart("dies", { wait: true })), "start_failed");
    await waitFor(() => told.some(({ type, name }) => type === "deleted" && name === "app"));
    assert(told.every(({ at }) => at instanceof Date));
    stop.abort();
    await ended.catch(() => {});
  });
}

Deno.test("Client reports that no daemon answers", async () => {
  assertEquals(thrownCode(() => new Client({ hom: "/tmp" } as object)), "bad_request");
  const nowhere = new Client({ home: "/tmp/ps-no-such-home" });
  assertEquals(await codeOf(nowhere.list()), "daemon_unreachable");
  const refused = new Client({ url: "http://127.0.0.1:9", token: "x" });
  assertEquals(await codeOf(refused.list()), "daemon_unreachable");
});

Deno.test("Client is rejected with a wrong token", async () => {
  await using daemon = await TestDaemon.start();
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  assertEquals(await codeOf(new Client({ url, token: "wrong" }).list()), "unauthorized");
});
