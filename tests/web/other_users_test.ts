/** What other users of the machine can read or prepare. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { cli } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { TestWeb } from "../support/web.ts";

const asRoot = Deno.uid() === 0;

Deno.test("home is closed to other users", { ignore: !asRoot }, async () => {
  await using web = await TestWeb.start();
  await web.daemon.startScript("app", "echo secret; exec sleep 1000");
  await web.daemon.client.call("save");
  await web.daemon.client.call("token_create", { name: "ci" });
  const { home, socket, token, tokens, saved, daemonLog } = pathsIn(web.daemon.home);
  const files = [socket, token, tokens, saved, daemonLog, `${home}/apps/app/stdout.log`];
  for (const path of files) {
    const mode = Deno.lstatSync(path).mode! & 0o077;
    assert(mode === 0 || path.endsWith("stdout.log"), `${path} ${mode.toString(8)}`);
    const read = path === socket
      ? `curl -s --max-time 2 --unix-socket '${path}' -d '{"action":"ping"}' http://x/ipc`
      : `cat '${path}'`;
    assertEquals((await asUser(0, read)).code, 0, read);
    const { code } = await asUser(65534, read);
    assert(code !== 0, `nobody reads ${path}`);
  }
});

function asUser(id: number, script: string): Promise<Deno.CommandOutput> {
  const args = [`--reuid=${id}`, `--regid=${id}`, "--clear-groups", "/bin/sh", "-c", script];
  return new Deno.Command("setpriv", { args, stdout: "null", stderr: "null" }).output();
}

Deno.test(
  "a home that another user prepared is rejected with the reason",
  { ignore: !asRoot },
  async () => {
    await using temp = tempHome();
    Deno.chmodSync(temp.path, 0o1777);
    const homes: [string, (path: string) => void, RegExp][] = [
      ["open", (path) => (Deno.mkdirSync(path), Deno.chmodSync(path, 0o777)), /others may write/],
      [
        "foreign",
        (path) => (Deno.mkdirSync(path, { mode: 0o700 }), Deno.chownSync(path, 65534, 65534)),
        /belongs to user 65534/,
      ],
      ["link", (path) => Deno.symlinkSync(temp.path, path), /symbolic link/],
    ];
    for (const [name, prepare, reason] of homes) {
      const home = `${temp.path}/${name}`;
      prepare(home);
      const { code, stderr } = await cli(home, "daemon");
      assertEquals(code, 2, name);
      assertMatch(stderr, reason);
    }
  },
);
