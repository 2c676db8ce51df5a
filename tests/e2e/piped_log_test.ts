/** Apps with `log.pipe`, which open `/dev/stdout` and `/dev/stderr` themselves. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const isRoot = Deno.build.os === "linux" && Deno.uid() === 0;
const PIPE = { log: { pipe: true }, restart_policy: "never" };

const OPENS = "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo out $i; echo err $i >/dev/stderr; " +
  "echo both $i | tee /dev/stderr; echo again $i >/dev/stdout; done; exit 3";

function lines(daemon: TestDaemon, stream: "stdout" | "stderr"): string[] {
  return Deno.readTextFileSync(`${daemon.home}/apps/app/${stream}.log`).trimEnd().split("\n");
}

function expected(words: readonly string[]): string[] {
  return Array.from({ length: 100 }, (_, i) => words.map((word) => `${word} ${i + 1}`)).flat();
}

for (const uid of [undefined, 65534]) {
  const who = uid === undefined ? "an app" : "another user's app";
  Deno.test(`log.pipe keeps every line of ${who} that opens its own output`, {
    ignore: uid !== undefined && !isRoot,
  }, async () => {
    const user = uid === undefined ? {} : { uid, gid: uid };
    await daemon.startScript("app", OPENS, { ...PIPE, ...user });
    await waitFor(async () => (await daemon.status("app")).exit_code === 3);
    assertEquals(lines(daemon, "stdout"), expected(["out", "both", "again"]));
    assertEquals(lines(daemon, "stderr"), expected(["err", "both"]));
    const left = [...Deno.readDirSync(`${daemon.home}/apps/app`)].filter(({ isFile }) => !isFile);
    assertEquals(left, []);
  });
}

Deno.test("log.pipe makes no name beside a log outside of the home, nor is its output lost to a watch there", async () => {
  await using folder = tempHome();
  using watcher = Deno.watchFs(folder.path);
  const made = new Set<string>();
  void (async () => {
    for await (const { paths } of watcher) for (const path of paths) made.add(path);
  })();
  const [stdout, stderr] = ["out", "err"].map((name) => `${folder.path}/${name}`);
  const log = { ...PIPE.log, stdout, stderr };
  await daemon.startScript("app", "echo $PROCSUP_RUN_ID; exec sleep 1000", { ...PIPE, log });
  await waitFor(() => made.has(stdout!) && made.has(stderr!), { what: "two logs" });
  await waitFor(() => Deno.readTextFileSync(stdout!).endsWith("\n"), { what: "the run id" });
  const id = Deno.readTextFileSync(stdout!).trim();
  assertEquals([...made].filter((path) => path.includes(id) || /\.\d+$/.test(path)), []);
});

Deno.test("log.pipe survives the daemon, and the log has what the app wrote before a SIGKILL", async () => {
  // On a slow machine it writes more than the 10 MB at which a log is rotated.
  const log = { ...PIPE.log, max_size: "1GB" };
  const endless = "trap '' TERM; i=0; while :; do i=$((i+1)); echo $i; done";
  await daemon.startScript("app", endless, { ...PIPE, log });
  await daemon.kill();
  const size = lines(daemon, "stdout").length;
  await waitFor(() => lines(daemon, "stdout").length > size, { what: "the app to write on" });
  await daemon.run();
  await daemon.client.call("stop", { target: "app", timeout: "100ms" });
  const written = lines(daemon, "stdout");
  // Not `assertEquals(written, …)`: the difference of a million lines does not fit into memory.
  assertEquals(written.findIndex((line, index) => line !== String(index + 1)), -1);
  assert(lines(daemon, "stdout").join() === written.join(), "it wrote after the stop");
});

Deno.test("log.pipe does not delay an exit when a leftover process holds the pipe", async () => {
  const stray = "setsid sleep 1000 & echo $!; echo last; exit 4";
  await daemon.startScript("app", stray, PIPE);
  await waitFor(async () => (await daemon.status("app")).exit_code === 4);
  const [pid, last] = lines(daemon, "stdout");
  assertEquals(last, "last");
  await waitFor(() => !isAlive(Number(pid)));
});

Deno.test("an app whose command or script opens its own output writes through pipes by default", async () => {
  const script = `${daemon.home}/opens.sh`;
  Deno.writeTextFileSync(script, `#!/bin/sh\n${OPENS}\n`, { mode: 0o755 });
  for (const keys of [{}, { entrypoint: script, args: [] }]) {
    await daemon.startScript("app", OPENS, { restart_policy: "never", ...keys });
    await waitFor(async () => (await daemon.status("app")).exit_code === 3);
    assertEquals(lines(daemon, "stdout"), expected(["out", "both", "again"]));
    assertEquals(lines(daemon, "stderr"), expected(["err", "both"]));
    await daemon.client.call("flush", "app");
    await daemon.client.call("delete", "app");
  }
});

Deno.test("an app that truncates its log is told in logs, why and events, and writes through pipes from its next run on", async () => {
  const hidden = 'f=/dev/std; while :; do echo line >"${f}err"; sleep 0.3; done';
  await daemon.startScript("app", hidden);
  await waitFor(async () => (await daemon.status("app")).log_problem !== undefined);
  for (const words of [["logs", "app"], ["why", "app"], ["events", "app", "-n", "100"]]) {
    const { stdout, stderr } = await daemon.cli(...words);
    assert(/its log was truncated/.test(stdout + stderr), `${words}: ${stdout}${stderr}`);
  }
  await daemon.client.call("restart", "app");
  await daemon.client.call("flush", "app");
  await waitFor(() => lines(daemon, "stderr").length > 3);
  assertEquals((await daemon.status("app")).log_problem, undefined);
});

Deno.test("a log that was removed is told in logs and why", async () => {
  await daemon.startScript("app", "while :; do echo line; sleep 0.1; done");
  const log = `${daemon.home}/apps/app/stdout.log`;
  await waitFor(() => Deno.statSync(log).size > 0);
  Deno.removeSync(log);
  await waitFor(async () => (await daemon.status("app")).log_problem !== undefined);
  const told = "its log was renamed, removed or replaced";
  assertStringIncludes((await daemon.cli("logs", "app")).stderr, told);
  assertStringIncludes((await daemon.cli("why", "app")).stdout, told);
});
