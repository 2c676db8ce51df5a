import { assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { answered } from "../../src/protocol/envelope.ts";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { tempHome } from "../support/temp_home.ts";

/** More than any system's backlog: Deno asks for 1024. */
const MORE_THAN_MAY_WAIT = 5000;

for (
  const [what, missed] of [
    ["that answers a ping", 0],
    ["that misses one ping, as after a pause of the machine", 1],
  ] as const
) {
  Deno.test(`call() waits for a slow daemon ${what}`, async () => {
    await using home = tempHome();
    const asked: string[] = [];
    const pinged = Promise.withResolvers<void>();
    await using _server = Deno.serve(
      { path: `${home.path}/procsup.sock`, onListen: () => {} },
      async (request) => {
        const { action } = await request.json();
        asked.push(action);
        // The first request is the call itself.
        if (asked.length > 1 + missed) pinged.resolve();
        await pinged.promise;
        return Response.json(answered([]).envelope);
      },
    );
    assertEquals(await new DaemonClient(home.path).call("list"), []);
    assertEquals(asked, ["list", ...Array(1 + missed).fill("ping")]);
  });
}

Deno.test("call() reports that the daemon hangs when it accepts no more connections", async () => {
  await using home = tempHome();
  const path = `${home.path}/procsup.sock`;
  using _listener = Deno.listen({ transport: "unix", path });
  using waiting = new DisposableStack();
  const fill = async () => {
    for (let i = 0; i < MORE_THAN_MAY_WAIT; i++) {
      waiting.use(await Deno.connect({ transport: "unix", path }));
    }
  };
  await assertRejects(fill, Deno.errors.WouldBlock);
  const error = await assertRejects(
    () => new DaemonClient(home.path).call("list"),
    ProcsupError,
    `The daemon of home "${home.path}" does not answer`,
  );
  assertEquals(error.code, "daemon_hangs");
});
