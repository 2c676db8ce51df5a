import { assert, assertEquals } from "@std/assert";
import { Service } from "../../src/daemon/service.ts";
import { notifyService } from "../../src/platform/service_manager.ts";
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
    assertEquals(notifyService(path, "READY=1\nSTATUS=grün"), "sent");
    assertEquals(socket.read(), ["READY=1\nSTATUS=grün"]);
  },
});

Deno.test({
  name: "notifyService() supports abstract addresses",
  ignore,
  fn() {
    const name = `@procsup-test-${crypto.randomUUID()}`;
    using socket = new NotifySocket(name);
    assertEquals(notifyService(name, "WATCHDOG=1"), "sent");
    assertEquals(socket.read(), ["WATCHDOG=1"]);
  },
});

Deno.test({
  name: "notifyService() does not wait for a service manager that does not read",
  ignore,
  async fn() {
    await using folder = tempHome();
    const path = `${folder.path}/notify`;
    using socket = new NotifySocket(path);
    let taken = 0;
    while (notifyService(path, "WATCHDOG=1") === "sent") taken++;
    assertEquals(notifyService(path, "STOPPING=1"), "busy");
    assertEquals(socket.read().length, taken);
    assertEquals(notifyService(path, "STOPPING=1"), "sent");
  },
});

Deno.test({
  name: "Service resends the newest status that a busy service manager did not accept",
  ignore,
  async fn() {
    await using folder = tempHome();
    const path = `${folder.path}/notify`;
    using socket = new NotifySocket(path);
    while (notifyService(path, "WATCHDOG=1") === "sent");
    using service = new Service(path, (problem) => assert(false, problem));
    service.ready();
    service.stopping();
    await socket.hears("STOPPING=1");
    assertEquals(socket.heard.includes("READY=1"), false);
  },
});

Deno.test("notifyService() reports that nothing listens, or that the address is invalid", async () => {
  await using folder = tempHome();
  const addresses = [`${folder.path}/nobody`, "relative", "", "@", "vsock:2:1234"];
  for (const address of [...addresses, `/${"x".repeat(200)}`]) {
    assertEquals(notifyService(address, "READY=1"), "nobody listens", address);
  }
});
