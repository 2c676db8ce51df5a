import { assertEquals } from "@std/assert";
import { listeningPorts, localAddress } from "../../src/platform/listening_ports.ts";
import { lookAt } from "../../src/platform/stat.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

Deno.test("localAddress() parses the addresses of /proc/net/tcp", () => {
  assertEquals(localAddress("0100007F:1F90"), { port: 8080, address: "127.0.0.1" });
  assertEquals(localAddress("00000000:0016"), { port: 22, address: "0.0.0.0" });
  assertEquals(localAddress("00000000000000000000000000000000:01BB"), { port: 443, address: "::" });
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

const src = new URL("../../src/platform/", import.meta.url).href;

/** Every user may run it. */
const PYTHON = "/usr/bin/python3";

/** Whether an app of another user that listens may be the one that holds its port. */
const HIDDEN = `
import { mayBelongTo } from "${src}listening_ports.ts";
const child = new Deno.Command("${PYTHON}", {
  args: ["-c", "import socket, time; s = socket.create_server(('127.0.0.1', 0));" +
    "print(s.getsockname()[1], flush=True); time.sleep(60)"],
  ...{ uid: 65534, gid: 65534, cwd: "/", detached: true, stdout: "piped" },
}).spawn();
const { value } = await child.stdout.getReader().read();
const address = { hostname: "127.0.0.1", port: Number(new TextDecoder().decode(value)) };
console.log(mayBelongTo(address, child.pid), mayBelongTo(address, 999999));
child.kill("SIGKILL");
Deno.exit();
`;

Deno.test({
  name: "mayBelongTo() does not rule out a process whose descriptors are hidden, as in a container",
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0 || lookAt(PYTHON) === undefined,
  async fn() {
    await using temp = tempHome();
    const { stdout } = await new Deno.Command("setpriv", {
      args: ["--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]
        .concat(Deno.execPath(), "eval", HIDDEN),
      cwd: temp.path,
      stderr: "null",
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "true false\n");
  },
});
