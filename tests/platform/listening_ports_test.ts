import { assertEquals } from "@std/assert";
import { listeningPorts, localAddress } from "../../src/platform/scan/listening_ports.ts";
import { waitFor } from "../support/wait_for.ts";

Deno.test("localAddress() parses the addresses of /proc/net/tcp", () => {
  assertEquals(localAddress("0100007F:1F90"), { port: 8080, address: "127.0.0.1" });
  assertEquals(localAddress("00000000:0016"), { port: 22, address: "0.0.0.0" });
  assertEquals(localAddress("00000000000000000000000000000000:01BB"), { port: 443, address: "::" });
  const mapped = "0000000000000000FFFF00000100007F:0050";
  assertEquals(localAddress(mapped), { port: 80, address: "127.0.0.1" });
  const loopback = "00000000000000000000000001000000:0050";
  assertEquals(localAddress(loopback), { port: 80, address: "::1" });
});

Deno.test({
  name: "listeningPorts() finds the ports of a process tree, and no others",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const program = "const l = Deno.listen({ hostname: '127.0.0.1', port: 0 });" +
      "console.log(String(l.addr.port)); await l.accept();";
    // As under the wrapper: a shell leads the group, and the app runs below it.
    await using tree = new Deno.Command("/bin/sh", {
      args: ["-c", `"$0" eval "$1"; :`, Deno.execPath(), program],
      stdin: "null",
      stdout: "piped",
      detached: true,
    }).spawn();
    try {
      const reader = tree.stdout.pipeThrough(new TextDecoderStream()).getReader();
      const port = Number((await reader.read()).value);
      await waitFor(() => listeningPorts([tree.pid]).size > 0);
      assertEquals(listeningPorts([tree.pid]).get(tree.pid), [{ port, address: "127.0.0.1" }]);
      assertEquals(listeningPorts([1]).size, 0);
      await reader.cancel();
    } finally {
      Deno.kill(-tree.pid, "SIGKILL");
      await tree.status;
    }
  },
});
