/** Standard input and terminals of apps. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { writeInput } from "../../src/platform/launch/app_input.ts";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { isAlive, programLine, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { tmuxMissing, TmuxTerminal } from "../support/tmux.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const isRoot = Deno.build.os === "linux" && Deno.uid() === 0;
const ANSWERS = 'echo "size $(stty size)"; trap "echo interrupted" INT; ' +
  'while :; do read -r line || continue; [ "$line" = quit ] && exit 3; echo "got $line, $(stty size)"; done';

Deno.test({
  name: "attach survives a SIGKILL of the daemon, and restores the terminal",
  ignore: Deno.build.os !== "linux" || tmuxMissing(),
}, async () => {
  await using terminal = await TmuxTerminal.open({ PROCSUP_HOME: daemon.home, NO_COLOR: "1" });
  const attach = `${programLine()} attach app`;
  await daemon.startScript("app", ANSWERS, { tty: true, restart_policy: "never" });
  const log = () => Deno.readTextFileSync(`${daemon.home}/apps/app/stdout.log`);
  await waitFor(() => log().startsWith("size 24 80"), { what: "the app" });
  await terminal.command(attach);
  await terminal.sees("size 24 80");
  await terminal.command("one");
  await terminal.sees("got one, 30 100");
  await terminal.keys("C-c");
  await terminal.sees("interrupted");
  await daemon.kill();
  await daemon.run();
  await terminal.resize(90, 20);
  await waitFor(async () => {
    await terminal.command("two");
    return (await terminal.screen()).includes("got two, 20 90");
  });
  await terminal.keys("C-]");
  await terminal.sees("detached from app");
  await terminal.command("stty -a | grep -c ' icanon.*' | sed s/^/restored/");
  await terminal.sees("restored1");
  const { stdout } = await daemon.cli("logs", "app", "--grep", "got one");
  assertStringIncludes(stdout, "got one, 30 100");
  // Its output would push the first line of the next attach off the screen.
  await daemon.client.call("flush", { target: "app" });
  await terminal.command(`clear; ${attach}; echo "code $?"`);
  await terminal.sees("attached to app");
  await terminal.command("quit");
  await terminal.sees("code 3");
  assertEquals((await daemon.status("app")).exit_code, 3);
});

Deno.test({
  name: "attach goes on after it was suspended",
  ignore: Deno.build.os !== "linux" || tmuxMissing(),
}, async () => {
  await using terminal = await TmuxTerminal.open({ PROCSUP_HOME: daemon.home, NO_COLOR: "1" });
  await daemon.startScript("app", ANSWERS, { tty: true });
  // `exec` keeps the pid of the shell.
  const line = `sh -c 'echo $$ >${daemon.home}/pid; exec ${programLine()} attach app'`;
  await terminal.command(line);
  await terminal.command("one");
  await terminal.sees("got one");
  Deno.kill(Number(Deno.readTextFileSync(`${daemon.home}/pid`)), "SIGTSTP");
  await terminal.sees((screen) => /Stopped|suspended/i.test(screen));
  await terminal.command("fg");
  await terminal.command("two");
  await terminal.sees("got two");
  await terminal.keys("C-]");
  await terminal.sees("detached from app");
});

Deno.test({
  name: "attach shows the screen of an app again after it was suspended",
  ignore: Deno.build.os !== "linux" || tmuxMissing(),
}, async () => {
  await using terminal = await TmuxTerminal.open({ PROCSUP_HOME: daemon.home, NO_COLOR: "1" });
  const drawn = `trap 'printf "\\033[H\\033[2Jdrawn"' WINCH; printf "\\033[?1049h"`;
  await daemon.startScript("app", `${drawn}; while :; do sleep 0.1; done`, { tty: true });
  const line = `sh -c 'echo $$ >${daemon.home}/pid; exec ${programLine()} attach app'`;
  await terminal.command(line);
  await terminal.sees("drawn");
  Deno.kill(Number(Deno.readTextFileSync(`${daemon.home}/pid`)), "SIGTSTP");
  await terminal.sees((screen) => /Stopped|suspended/i.test(screen));
  await terminal.command("fg");
  await terminal.sees("drawn");
  await terminal.keys("C-]");
  await terminal.sees("detached from app");
});

Deno.test({
  name: "attach treats a terminal of size 0x0 as 80x24",
  ignore: Deno.build.os !== "linux" || tmuxMissing(),
}, async () => {
  await using terminal = await TmuxTerminal.open({ PROCSUP_HOME: daemon.home, NO_COLOR: "1" });
  await daemon.startScript("app", ANSWERS, { tty: true, restart_policy: "never" });
  await terminal.command(`stty cols 0 rows 0; ${programLine()} attach app`);
  await terminal.sees("attached to app");
  await terminal.command("one");
  await terminal.sees("got one, 24 80");
});

for (const uid of [undefined, 65534]) {
  const who = uid === undefined ? "an app" : "another user's app";
  Deno.test({
    name: `tty gives ${who} its controlling terminal, and a stop leaves nothing of it`,
    ignore: Deno.build.os !== "linux" || (uid !== undefined && !isRoot),
  }, async () => {
    const script = 'test -w "$(tty)" && : </dev/tty && echo own; read -r line; echo "got $line"; ' +
      "ps -o pid= --ppid $PPID; sleep 1000 & exec sleep 1000";
    const user = uid === undefined ? {} : { uid, gid: uid };
    await daemon.startScript("app", script, { tty: true, ...user });
    const log = () => Deno.readTextFileSync(`${daemon.home}/apps/app/stdout.log`);
    const inputs = () =>
      [...Deno.readDirSync(`${daemon.home}/apps/app`)].filter(({ name }) =>
        name.startsWith("stdin")
      );
    const [input] = inputs();
    assertEquals(Deno.lstatSync(`${daemon.home}/apps/app/${input!.name}`).mode! & 0o777, 0o600);
    await daemon.client.call("send", { target: "app", text: "hello\n" });
    await waitFor(() => log().includes("got hello"));
    await waitFor(() => /(\d+\s+){3}$/.test(log()), { what: "the app and two cat" });
    assertStringIncludes(log(), "own");
    const pids = [...log().matchAll(/^\s*(\d+)\s*$/gm)].map(([, pid]) => Number(pid));
    await daemon.client.call("stop", "app");
    await waitFor(() => !pids.some(isAlive), { what: `${pids} to end` });
    await waitFor(() => inputs().length === 0);
  });
}

Deno.test("attach does not show output of a deleted app with the same name", async () => {
  const texts = async (script: string) => {
    await daemon.startScript("app", script, { tty: true, restart_policy: "never" });
    const stream = await daemon.client.stream("/attach?target=app&lines=10");
    const pieces = (await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).text())
      .trimEnd().split("\n");
    return pieces.map((piece) => JSON.parse(piece).text ?? "").join("");
  };
  assertEquals(await texts("echo old"), "old\r\n");
  await daemon.client.call("delete", "app");
  assertEquals(await texts("echo fresh"), "fresh\r\n");
});

Deno.test("send writes to an open standard input, and explains why it cannot", async () => {
  await daemon.startScript("open", "read -r line; echo $line; exec <&-; sleep 1000", {
    stdin: true,
  });
  await daemon.startScript("closed", "cat; echo end; sleep 1000");
  assertEquals((await daemon.cli("send", "open", "hello", "world")).code, 0);
  const log = (name: string) => Deno.readTextFileSync(`${daemon.home}/apps/${name}/stdout.log`);
  await waitFor(() => log("open") === "hello world\n");
  await waitFor(() => log("closed") === "end\n");
  const refusals = {
    open: 'Cannot send to "open": it has closed its standard input',
    closed: 'Cannot send to "closed": its standard input is closed',
  };
  for (const [name, message] of Object.entries(refusals)) {
    const { code, stderr } = await daemon.cli("send", name, "more");
    assertEquals(code, 6);
    assertStringIncludes(stderr, message);
  }
  const attached = await daemon.client.call("attach", { target: "open", columns: 80, rows: 24 })
    .catch((error) => error);
  assertEquals(attached.message, 'Cannot attach to "open": it has no terminal');
});

Deno.test("send reaches the old run after a failed reload with overlap", async () => {
  const script = "mkdir first || exit 3; read -r line; echo $line; sleep 1000";
  const cwd = Deno.makeTempDirSync({ dir: daemon.home });
  await daemon.startScript("app", script, { stdin: true, overlap: true, cwd });
  await waitFor(() => lstatIfAny(`${cwd}/first`) !== undefined, { what: "the first run" });
  const { results } = await daemon.client.call("reload", { target: "app" });
  assertEquals(results.map(({ ok }) => ok), [false]);
  await daemon.client.call("send", { target: "app", text: "hello\n" });
  const log = () => Deno.readTextFileSync(`${daemon.home}/apps/app/stdout.log`);
  await waitFor(() => log() === "hello\n");
});

Deno.test("writeInput() reports that an exiting app has closed its input", async () => {
  await using home = tempHome();
  const path = `${home.path}/stdin`;
  new Deno.Command("mkfifo", { args: [path] }).outputSync();
  await using reader = new Deno.Command("sh", { args: ["-c", `exec sleep 1000 <>${path}`] })
    .spawn();
  await waitFor(async () => await writeInput(path, "x") === undefined);
  const problem = writeInput(path, "x".repeat(100_000));
  reader.kill("SIGKILL");
  assertEquals(await problem, "it has closed its standard input");
});

Deno.test("writeInput() waits for a slow app while it reads, and writes nothing twice", async () => {
  await using home = tempHome();
  const [path, got] = [`${home.path}/stdin`, `${home.path}/got`];
  new Deno.Command("mkfifo", { args: [path] }).outputSync();
  const script = `while :; do sleep 0.4; dd bs=20000 count=1 2>/dev/null >>${got}; done <${path}`;
  const reader = new Deno.Command("sh", { args: ["-c", script] }).spawn();
  try {
    await waitFor(async () => await writeInput(path, "x\n") === undefined);
    // A FIFO holds at most 64 kB, so this one is full for more than 2 s in total.
    const text = Array.from({ length: 30_000 }, (_, i) => `${10_000 + i}\n`).join("");
    assertEquals(await writeInput(path, text), undefined);
    await waitFor(() => Deno.readTextFileSync(got).length >= text.length + 2);
    assert(Deno.readTextFileSync(got) === `x\n${text}`, "it is not the text that was written");
  } finally {
    reader.kill("SIGKILL");
    await reader.status;
  }
});

Deno.test("writeInput() gives up on an app that does not read its input", async () => {
  await using home = tempHome();
  const path = `${home.path}/stdin`;
  new Deno.Command("mkfifo", { args: [path] }).outputSync();
  const reader = new Deno.Command("sh", { args: ["-c", `exec sleep 1000 <>${path}`] }).spawn();
  try {
    await waitFor(async () => await writeInput(path, "x") === undefined);
    const problem = await writeInput(path, "x".repeat(100_000));
    assert(problem?.includes("it does not read its standard input"), problem);
  } finally {
    reader.kill("SIGKILL");
    await reader.status;
  }
});
