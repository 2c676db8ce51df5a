import { assertEquals } from "@std/assert";
import { isServiceVariable, notifyService } from "../../src/platform/notify.ts";
import { NotifySocket } from "../support/notify_socket.ts";
import { tempHome } from "../support/temp_home.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "notifyService() sends one datagram to a path",
  ignore,
  async fn() {
    await using folder = tempHome();
    const path = `${folder.path}/notify`;
    using socket = new NotifySocket(path);
    assertEquals(notifyService(path, "READY=1\nSTATUS=grün"), true);
    assertEquals(socket.read(), ["READY=1\nSTATUS=grün"]);
  },
});

Deno.test({
  name: "notifyService() knows abstract addresses",
  ignore,
  fn() {
    const name = `@procsup-test-${crypto.randomUUID()}`;
    using socket = new NotifySocket(name);
    assertEquals(notifyService(name, "WATCHDOG=1"), true);
    assertEquals(socket.read(), ["WATCHDOG=1"]);
  },
});

Deno.test("notifyService() says so when nobody listens, or the address is none", async () => {
  await using folder = tempHome();
  const addresses = [`${folder.path}/nobody`, "relative", "", "@", "vsock:2:1234"];
  for (const address of [...addresses, `/${"x".repeat(200)}`]) {
    assertEquals(notifyService(address, "READY=1"), false, address);
  }
});

Deno.test("isServiceVariable() knows what is not meant for apps", () => {
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "LISTEN_FDS", "INVOCATION_ID"]) {
    assertEquals(isServiceVariable(name), true, name);
  }
  for (const name of ["PATH", "HOME", "NOTIFY", "LANG"]) {
    assertEquals(isServiceVariable(name), false, name);
  }
});
