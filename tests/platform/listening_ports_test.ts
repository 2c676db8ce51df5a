import { assertEquals } from "@std/assert";
import { descriptorsOf, linkOf } from "../../src/platform/scan/process_table.ts";
import {
  listeningPorts,
  localAddress,
  otherEnd,
  otherEndInTables,
} from "../../src/platform/scan/listening_ports.ts";
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

/** The sockets of this process. */
function sockets(): Set<string> {
  return new Set(descriptorsOf(Deno.pid).map(linkOf).filter((link) => link.startsWith("socket:")));
}

for (
  const [listens, connects] of [["127.0.0.1", "127.0.0.1"], ["::1", "::1"], ["::", "127.0.0.1"]]
) {
  for (const look of [otherEnd, otherEndInTables]) {
    Deno.test({
      name: `${look.name}() of a connection to ${connects}, accepted on ${listens}`,
      ignore: Deno.build.os !== "linux",
      async fn() {
        using listener = Deno.listen({ port: 0, hostname: listens! });
        const { port } = listener.addr;
        using connection = await Deno.connect({ port, hostname: connects! });
        const before = sockets();
        const accepted = await listener.accept();
        const [added] = sockets().difference(before);
        assertEquals(look(connection), { socket: added, isEstablished: true });
        accepted.close();
        // The runtime closes the descriptor itself a moment later.
        await waitFor(() => !sockets().has(added!), { what: "the end of the descriptor" });
        assertEquals(look(connection)?.socket, undefined);
        assertEquals(look(connection)?.isEstablished ?? false, false);
      },
    });
  }
}
