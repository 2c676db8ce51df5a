/** A daemon with few file descriptors survives too many connections. */

import { assertEquals } from "@std/assert";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const MANY = 180;

/** Opens idle connections. Some do not fit into the queue. */
async function open(connect: () => Promise<Deno.Conn>): Promise<AsyncDisposable> {
  const made = await Promise.allSettled(Array.from({ length: MANY }, connect));
  const all = made.flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
  const release = () => all.forEach((connection) => connection.close());
  return { [Symbol.asyncDispose]: () => Promise.resolve(release()) };
}

for (const nofile of [44, 64, 256]) {
  Deno.test(`a daemon with ${nofile} descriptors answers during and after ${MANY} open connections`, async () => {
    await using daemon = await TestDaemon.start({ nofile });
    const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
    const { token } = await daemon.client.call("token");
    const headers = { authorization: `Bearer ${token}`, connection: "close" };
    const answers = async () => {
      const list = await daemon.client.call("list").then(() => true, () => false);
      const web = await fetch(`${url}/api/v1/processes`, { headers })
        .then(async (response) => (await response.json(), response.ok), () => false);
      return list && web;
    };
    const socket = `${daemon.home}/procsup.sock`;
    {
      await using _unix = await open(() => Deno.connect({ transport: "unix", path: socket }));
      await using _tcp = await open(() => Deno.connect({ port: Number(new URL(url).port) }));
      await waitFor(answers, { what: "an answer beside them" });
    }
    assertEquals(await answers(), true);
    const all = await Promise.all(Array.from({ length: MANY }, () => daemon.client.call("ping")));
    assertEquals(all.length, MANY);
    await daemon.startScript("app", "exec sleep 1000");
    assertEquals((await daemon.status("app")).state, "running");
  });
}
