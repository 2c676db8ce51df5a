/** The launch wrapper under the shells that are `/bin/sh` somewhere. */

import { assert, assertEquals } from "@std/assert";
import { WRAPPER } from "../../src/platform/wrapper.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const SHELLS = [["/bin/sh"], ["dash"], ["bash", "--posix"], ["busybox", "sh"], ["mksh"]];

/** The wrapper around a command, as a daemon runs it. */
function wrapped(
  [program, ...args]: readonly string[],
  folder: string,
  setup: string,
  command: readonly string[],
): Deno.Command {
  const words = [folder, `${folder}/stdout`, `${folder}/stderr`, setup, ...command];
  const env = { PATH: Deno.env.get("PATH")!, WORD: "kept", PROCSUP_ID: "run" };
  const io = { stdin: "null", stdout: "null", stderr: "null" } as const;
  return new Deno.Command(program!, {
    args: [...args, "-c", WRAPPER, "procsup", ...words],
    ...{ env, clearEnv: true, detached: true, ...io },
  });
}

for (const shell of SHELLS) {
  const ignore = shell[0] !== "/bin/sh" && !await isThere(shell[0]!);
  Deno.test({
    name: `WRAPPER tells pid and exit code, and hands all else through, under ${shell.join(" ")}`,
    ignore,
    fn: async () => {
      await using home = tempHome();
      const read = (name: string) => Deno.readTextFileSync(`${home.path}/${name}`);
      const script = 'echo "$1 $2|$$|$LISTEN_PID|$WORD|${procsup_pid-none}"; echo no >&2; exit 7';
      const { code } = await wrapped(shell, home.path, "export LISTEN_PID=$procsup_pid", [
        ...["/bin/sh", "-c", script, "sh", "a  b", "*"],
      ]).output();
      const pid = read("run.pid").trim();
      assertEquals([code, read("run.exit")], [7, "7\n"]);
      assertEquals(read("stdout"), `a  b *|${pid}|${pid}|kept|none\n`);
      assertEquals(read("stderr"), "no\n");
    },
  });
  Deno.test({
    name: `WRAPPER outlives a signal to the group, which the app takes, under ${shell.join(" ")}`,
    ignore,
    fn: async () => {
      await using home = tempHome();
      const script = 'trap "exit 3" INT; echo up; while :; do sleep 0.01; done';
      const child = wrapped(shell, home.path, "", ["/bin/sh", "-c", script]).spawn();
      const stdout = `${home.path}/stdout`;
      await waitFor(() => Deno.readTextFileSync(stdout) === "up\n", { what: "the app" });
      Deno.kill(-child.pid, "SIGINT");
      assertEquals((await child.status).code, 3);
      assertEquals(Deno.readTextFileSync(`${home.path}/run.exit`), "3\n");
      assert(Deno.readTextFileSync(`${home.path}/run.pid`) !== `${child.pid}\n`);
    },
  });
}

async function isThere(program: string): Promise<boolean> {
  try {
    await new Deno.Command(program, { args: ["-c", ":"], stderr: "null" }).output();
    return true;
  } catch {
    return false;
  }
}
