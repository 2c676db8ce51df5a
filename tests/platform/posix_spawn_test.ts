/** Programs that are started without a copy of this process. */

import { assert, assertEquals } from "@std/assert";
import { PosixSpawner } from "../../src/platform/posix_spawn.ts";
import { processRow } from "../../src/platform/process_table.ts";
import { tempHome } from "../support/temp_home.ts";

const ignore = Deno.build.os !== "linux";

/** The status of a child holds no program. */
function stayUp(): Disposable {
  const timer = setInterval(() => {}, 1000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function shell(
  spawner: PosixSpawner,
  script: string,
  { cwd = "/", env = {}, program = "/bin/sh" },
) {
  return spawner.spawn({ program, args: ["-c", script, "sh", "a  ü", ""], cwd, env });
}

Deno.test({
  name: "PosixSpawner hands words, variables and folder through, in a session of its own",
  ignore,
  fn: async () => {
    await using home = tempHome();
    using _up = stayUp();
    using spawner = new PosixSpawner();
    const script = 'exec >out; pwd; echo "$#|$1|$WORD"; readlink /proc/$$/fd/0 /proc/$$/fd/2; ' +
      "grep SigBlk /proc/$$/status; kill -PIPE $$; exit 7";
    const child = shell(spawner, script, {
      cwd: home.path,
      env: { WORD: "=b c", PATH: "/bin:/usr/bin" },
    })!;
    assertEquals(await child.status, { code: 141, signal: "SIGPIPE" });
    const lines = Deno.readTextFileSync(`${home.path}/out`).split("\n");
    assertEquals(lines.slice(0, 4), [
      Deno.realPathSync(home.path),
      "2|a  ü|=b c",
      "/dev/null",
      "/dev/null",
    ]);
    assertEquals(lines[4], `SigBlk:\t${"0".repeat(16)}`);

    const asleep = shell(spawner, "sleep 100000", { env: { PATH: "/bin:/usr/bin" } })!;
    const row = processRow(asleep.pid)!;
    assertEquals([row.ppid, row.pgid, row.sid], [Deno.pid, asleep.pid, asleep.pid]);
    Deno.kill(-asleep.pid, "SIGKILL");
    assertEquals(await asleep.status, { code: 137, signal: "SIGKILL" });
  },
});

Deno.test({
  name: "PosixSpawner notices every end, however soon, and leaves no zombie",
  ignore,
  sanitizeOps: true,
  sanitizeResources: true,
  fn: async () => {
    using _up = stayUp();
    using spawner = new PosixSpawner();
    const children = Array.from({ length: 100 }, (_, n) => shell(spawner, `exit ${n}`, {})!);
    const ends = await Promise.all(children.map(({ status }) => status));
    assertEquals(ends, children.map((_, code) => ({ code, signal: null })));
    assert(children.every(({ pid }) => processRow(pid)?.ppid !== Deno.pid));
    assertEquals(await shell(spawner, "exit 3", {})!.status, { code: 3, signal: null });
  },
});

Deno.test({
  name: "PosixSpawner leaves to Deno what the system refuses",
  ignore,
  fn: () => {
    using spawner = new PosixSpawner();
    assertEquals(shell(spawner, "", { program: "/no/such" }), undefined);
    assertEquals(shell(spawner, "", { cwd: "/no/such" }), undefined);
    assertEquals(shell(spawner, "a\0b", {}), undefined);
  },
});
