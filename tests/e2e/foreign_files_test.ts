/**
 * Files that root reads for an app with a `uid` belong to that user: no kind of file leaks or
 * blocks.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const ignore = Deno.build.os !== "linux" || Deno.uid() !== 0;

/** Two ordinary users without an account on the machine. */
const ALICE = { uid: 65533, gid: 65533 };
const BOB = { uid: 65532, gid: 65532 };

/** Shell commands with which bob replaces his file, and the resulting error. */
const ATTACKS: readonly (readonly [string, string])[] = [
  ["ln -s ../root.env .env", "user 65532 may not read it"],
  ["ln -s ../alice.env .env", "user 65532 may not read it"],
  ["ln -s /proc/self/cwd/token .env", "its links lead in a circle"],
  ["mkfifo .env", "it is not a regular file"],
  ["ln -s /dev/ptmx .env", "it is not a regular file"],
  ["truncate -s 400M .env", "it is larger than 1048576 bytes"],
];

Deno.test(
  "env_file and secrets of an app with a uid are read as that user",
  { ignore },
  async () => {
    await using temp = tempHome();
    await using daemon = await TestDaemon.start();
    Deno.chmodSync(temp.path, 0o755);
    for (const [name, { uid, gid }] of [["root", { uid: 0, gid: 0 }], ["alice", ALICE]] as const) {
      Deno.writeTextFileSync(`${temp.path}/${name}.env`, "STOLEN=yes\n", { mode: 0o600 });
      Deno.chownSync(`${temp.path}/${name}.env`, uid, gid);
    }
    const cwd = `${temp.path}/bob`;
    Deno.mkdirSync(cwd);
    Deno.chownSync(cwd, BOB.uid, BOB.gid);
    const asBob = async (script: string) => {
      const args = ["--reuid=65532", "--regid=65532", "--clear-groups", "sh", "-c", script];
      assert((await new Deno.Command("setpriv", { args, cwd }).output()).success, script);
    };
    const before = memory(daemon.pid);
    for (const [script, why] of ATTACKS) {
      await asBob(`rm -f .env; ${script}`);
      for (const uses of [{ env_file: [".env"] }, { secrets: { A: { file: ".env" } } }]) {
        const started = daemon.startScript("app", "exec sleep 1000", { cwd, ...BOB, ...uses });
        await assertRejects(() => started, Error, why);
      }
    }
    assert(memory(daemon.pid) - before < 50_000_000);
    await asBob("rm -f .env; echo A=mine >../bob/real.env; ln -s real.env .env");
    await daemon.startScript("app", "echo $A; exec sleep 1000", {
      cwd,
      ...BOB,
      env_file: [".env"],
    });
    await waitFor(async () => (await daemon.cli("logs", "app")).stdout.includes("mine"), {
      what: "the app to have its variable",
    });
  },
);

Deno.test(
  "a ready file of any size does not keep other apps from becoming ready",
  { ignore },
  async () => {
    await using daemon = await TestDaemon.start();
    const ready = { wait_ready: true, min_uptime: "10ms" };
    const before = memory(daemon.pid);
    const huge = 'truncate -s 700M "$PROCSUP_READY_FILE"; exec sleep 1000';
    await daemon.startScript("huge", huge, { ...ready, ...ALICE });
    const slow = 'sleep 0.3; echo READY=1 >"$PROCSUP_READY_FILE"; exec sleep 1000';
    await daemon.startScript("other", slow, { ...ready, ...BOB });
    await waitFor(async () => (await daemon.status("other")).ready, { what: "it to be ready" });
    assertEquals((await daemon.status("huge")).ready, false);
    assert(memory(daemon.pid) - before < 50_000_000);
  },
);

/** The peak memory of a process, in bytes. */
function memory(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return 1024 * Number(/^VmHWM:\s*(\d+)/m.exec(status)![1]);
}
