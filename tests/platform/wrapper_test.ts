/** The launch wrapper under every shell that some system uses as `/bin/sh`. */

import { assert, assertEquals } from "@std/assert";
import { openTerminal, writeInput } from "../../src/platform/launch/app_input.ts";
import { startedByShell } from "../../src/platform/users/as_user.ts";
import { spawnWrapper } from "../../src/platform/launch/child_process.ts";
import { openLibc } from "../../src/platform/libc.ts";
import { closeSocket, openListener, parseSockets } from "../../src/platform/sockets/sockets.ts";
import { processRow } from "../../src/platform/scan/process_table.ts";
import { RunFiles } from "../../src/platform/launch/run_files.ts";
import { NOT_STARTED, wrapperScript } from "../../src/platform/launch/wrapper.ts";
import { dirname } from "@std/path";
import { SIGNAL_NAMES } from "../../src/model/signal.ts";
import { freePort } from "../support/http_load.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const WRAPPER = wrapperScript({});
const SHELLS = [["/bin/sh"], ["dash"], ["bash", "--posix"], ["busybox", "sh"], ["mksh"]];

/** The wrapper around a command, as a daemon runs it. */
function wrapped(
  [program, ...args]: readonly string[],
  folder: string,
  setup: string,
  command: readonly string[],
): Deno.Command {
  const words = [folder, `${folder}/stdout`, `${folder}/stderr`, setup, "app", ...command];
  const env = { PATH: Deno.env.get("PATH")!, WORD: "kept", PROCSUP_RUN_ID: "run" };
  const io = { stdin: "null", stdout: "null", stderr: "null" } as const;
  return new Deno.Command(program!, {
    args: [...args, "-c", WRAPPER, "procsup", ...words],
    ...{ env, clearEnv: true, detached: true, ...io },
  });
}

for (const shell of SHELLS) {
  const ignore = shell[0] !== "/bin/sh" && !await isThere(shell[0]!);
  Deno.test({
    name: `WRAPPER reports pid and exit code, and passes everything else through, under ${
      shell.join(" ")
    }`,
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
    name: `WRAPPER tells a signal from an exit code above 128, under ${shell.join(" ")}`,
    ignore,
    fn: async () => {
      for (const [script, status] of [["exit", 143], ["exit", 129], ["kill", 143], ["kill", 137]]) {
        await using home = tempHome();
        const line = script === "exit" ? `exit ${status}` : `kill -${Number(status) - 128} $$`;
        await wrapped(shell, home.path, "", ["/bin/sh", "-c", line]).output();
        const files = new RunFiles(home.path);
        assertEquals(files.read("run", "exit"), status);
        assertEquals(files.exit("run")?.tellsSignal, script === "kill", line);
      }
    },
  });
  Deno.test({
    name: `WRAPPER survives a signal to the group, which reaches the app, under ${shell.join(" ")}`,
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

for (const shell of SHELLS) {
  const ignore = shell[0] !== "/bin/sh" && !await isThere(shell[0]!);
  Deno.test({
    name: `WRAPPER survives every signal that can be survived, under ${shell.join(" ")}`,
    ignore: ignore || Deno.build.os !== "linux",
    fn: async () => {
      await using home = tempHome();
      const gate = `${home.path}/gate`;
      const script = `echo up; until [ -e ${gate} ]; do sleep 0.01; done; exit 3`;
      const child = wrapped(shell, home.path, "", ["/bin/sh", "-c", script]).spawn();
      await waitFor(() => Deno.readTextFileSync(`${home.path}/stdout`) === "up\n");
      for (const signal of SIGNAL_NAMES) {
        // Only to the wrapper; the app may handle signals as it likes.
        if (signal !== "SIGKILL" && signal !== "SIGSTOP") {
          Deno.kill(child.pid, signal as Deno.Signal);
        }
      }
      Deno.writeTextFileSync(gate, "");
      assertEquals((await child.status).code, 3);
      assertEquals(Deno.readTextFileSync(`${home.path}/run.exit`), "3\n");
    },
  });
}

Deno.test("WRAPPER exits with the app's status and adds nothing to its output when it cannot write files", async () => {
  await using home = tempHome();
  const command = ["/bin/sh", "-c", "echo out; exit 7"];
  const words = [`${home.path}/removed`, `${home.path}/stdout`, `${home.path}/stderr`, "", "app"];
  const { code } = await new Deno.Command("/bin/sh", {
    args: ["-c", WRAPPER, "procsup", ...words, ...command],
    env: { PROCSUP_RUN_ID: "run" },
    ...{ stdin: "null", stdout: "null", stderr: "null" },
  }).output();
  assertEquals(code, 7);
  assertEquals(Deno.readTextFileSync(`${home.path}/stdout`), "out\n");
  assertEquals(Deno.readTextFileSync(`${home.path}/stderr`), "");
});

Deno.test({
  name: "WRAPPER reports that the system has no process for the app",
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0,
  fn: async () => {
    await using home = tempHome();
    Deno.chownSync(home.path, 64321, 64321);
    const words = [home.path, `${home.path}/stdout`, `${home.path}/stderr`, "", "app", "/bin/true"];
    const user = ["--reuid=64321", "--regid=64321", "--clear-groups"];
    await new Deno.Command("setpriv", {
      args: [...user, "prlimit", "--nproc=1", "/bin/sh", "-c", WRAPPER, "procsup", ...words],
      env: { PROCSUP_RUN_ID: "run" },
      ...{ stdin: "null", stdout: "null", stderr: "null" },
    }).output();
    assertEquals(Deno.readTextFileSync(`${home.path}/run.exit`), `${NOT_STARTED}\n`);
  },
});

Deno.test({
  name: "WRAPPER passes variables such as SHELLOPTS on to the app without obeying them",
  ignore: !await isThere("bash"),
  fn: async () => {
    await using home = tempHome();
    const app = { argv: ["/usr/bin/env"], env: { PROCSUP_RUN_ID: "run", SHELLOPTS: "errexit" } };
    const { argv, env } = startedByShell(undefined, {
      ...app,
      argv: ["/bin/sh", "-c", "env; exit 7"],
      cwd: "/",
    }, []);
    const words = [home.path, `${home.path}/stdout`, `${home.path}/stderr`, "", "app"];
    await new Deno.Command("bash", {
      args: ["--posix", "-c", WRAPPER, "procsup", ...words, ...argv],
      ...{ env, clearEnv: true, stdin: "null", stdout: "null", stderr: "null" },
    }).output();
    assertEquals(Deno.readTextFileSync(`${home.path}/run.exit`), "7\n");
    assert(Deno.readTextFileSync(`${home.path}/stdout`).includes("SHELLOPTS=errexit\n"));
  },
});

async function isThere(program: string): Promise<boolean> {
  try {
    await new Deno.Command(program, { args: ["-c", ":"], stderr: "null" }).output();
    return true;
  } catch {
    return false;
  }
}

for (const shell of SHELLS) {
  Deno.test({
    name: `wrapperScript() opens a terminal or an input that stays open, under ${shell.join(" ")}`,
    ignore: Deno.build.os !== "linux" || (shell[0] !== "/bin/sh" && !await isThere(shell[0]!)),
    fn: async () => {
      for (const tty of [false, true]) {
        await using home = tempHome();
        const [run, stdout] = [`${home.path}/run`, `${home.path}/stdout`];
        const fifo = `${home.path}/apps/app/stdin.run`;
        for (const folder of [run, dirname(fifo)]) Deno.mkdirSync(folder, { recursive: true });
        const terminal = tty ? openTerminal(undefined) : undefined;
        const command = [
          "/bin/sh",
          "-c",
          "read -r a; echo $a; (: >&9) 2>/dev/null || echo closed; ls -l /proc/self/fd | grep ptmx; exit 5",
        ];
        const words = [run, stdout, `${home.path}/stderr`, "", "app", ...command];
        const script = wrapperScript({
          stdin: true,
          terminal: terminal && { path: terminal.path, master: 3 },
        });
        spawnWrapper({
          program: shell[0]!,
          args: [...shell.slice(1), "-c", script, "procsup", ...words],
          ...{ cwd: "/", env: { PATH: Deno.env.get("PATH")!, PROCSUP_RUN_ID: "run" } },
          inherit: terminal === undefined ? [] : [terminal.master],
        });
        terminal?.[Symbol.dispose]();
        await waitFor(() => Deno.statSync(`${run}/run.pid`).size > 0);
        assertEquals(await writeInput(fifo, "hello\n"), undefined);
        const all = tty ? "hello\nhello\nclosed\n" : "hello\nclosed\n";
        await waitFor(() => Deno.readTextFileSync(stdout).replaceAll("\r", "") === all);
        await waitFor(() => Deno.readTextFileSync(`${run}/run.exit`) === "5\n");
        await waitFor(async () => await writeInput(fifo, "more") !== undefined);
      }
    },
  });
}

Deno.test({
  name: "spawnWrapper() leaves a socket non-blocking for the processes that share it",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const [address] = parseSockets([`127.0.0.1:${freePort()}`]);
    const fd = openListener(address!);
    const flags = () =>
      /^flags:\s*(\d+)/m.exec(Deno.readTextFileSync(`/proc/self/fdinfo/${fd}`))![1]!;
    const [F_SETFL, O_NONBLOCK] = [4, 0o4000];
    const { fcntl } = openLibc({
      fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
    });
    assertEquals(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    const before = flags();
    assert(parseInt(before, 8) & O_NONBLOCK);
    const { pid } = spawnWrapper({
      program: "/bin/sh",
      args: ["-c", ":"],
      cwd: "/",
      env: {},
      inherit: [fd],
    });
    assertEquals(flags(), before);
    closeSocket(fd);
    await waitFor(() => processRow(pid) === undefined, { what: "the end of the child" });
  },
});
