import { assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { success } from "../../src/protocol/envelope.ts";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { tempHome } from "../support/temp_home.ts";

/** More than any system lets wait for their turn: Deno asks for 1024. */
const MORE_THAN_MAY_WAIT = 5000;

Deno.test("call() waits for a daemon that takes long, when that answers a ping meanwhile", async () => {
  await using home = tempHome();
  const asked: string[] = [];
  const pinged = Promise.withResolvers<void>();
  await using _server = Deno.serve(
    { path: `${home.path}/procsup.sock`, onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (pathname === "/api/ping") pinged.resolve();
      else await pinged.promise;
      return Response.json(success([]));
    },
  );
  assertEquals(await new DaemonClient(home.path).call("list"), []);
  assertEquals(asked, ["/ipc", "/api/ping"]);
});

Deno.test("call() of root sends no token from below another user's folder", {
  ignore: Deno.uid() !== 0,
}, async () => {
  await using temp = tempHome();
  const home = `${temp.path}/theirs`;
  Deno.mkdirSync(home);
  Deno.writeTextFileSync(`${temp.path}/secret`, "root's own");
  Deno.symlinkSync(`${temp.path}/secret`, `${home}/token`);
  const seen: (string | null)[] = [];
  await using _server = Deno.serve(
    { path: `${home}/procsup.sock`, onListen: () => {} },
    (request) => {
      seen.push(request.headers.get("authorization"));
      return Response.json(success([]));
    },
  );
  Deno.chownSync(home, 65534, 65534);
  const refused = `Refusing home "${home}": "${home}" belongs to user 65534`;
  await assertRejects(() => new DaemonClient(home).call("list"), ProcsupError, refused);
  assertEquals(seen, []);
});

Deno.test("call() says that the daemon hangs when it takes no more connections", async () => {
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
