/**
 * Logs with a real daemon: rotated, searched, followed, flushed, and the daemon killed meanwhile.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import { UrlWay } from "../../src/client/way.ts";
import { listArchives } from "../../src/logs/write/archives.ts";
import { readPosition } from "../../src/logs/write/log_position.ts";
import { sleep } from "../../src/platform/clock.ts";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { CAN_COLLAPSE, numbers } from "../logs/rotation_scene.ts";
import { TestDaemon } from "../support/procsup.ts";
import { wholeLog } from "../support/whole_log.ts";
import { seeded } from "../support/seeded.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const LOG = { max_size: "64KB", max_files: 1000, compress: false };

function logOf(daemon: TestDaemon, name: string): string {
  return `${daemon.home}/apps/${name}/stdout.log`;
}

/** A shell script that writes the numbers up to `blocks` × 2000, step by step. */
function counting(blocks: number, pause: string): string {
  return `i=0; while [ $i -lt ${blocks} ]; do seq $((i*2000+1)) $((i*2000+2000)); ` +
    `i=$((i+1)); sleep ${pause}; done; exec sleep 1000`;
}

Deno.test("daemon loses and duplicates no line when it is killed repeatedly during rotations", {
  ignore: !CAN_COLLAPSE,
}, async () => {
  const names = ["one", "two", "three"];
  for (const name of names) await daemon.startScript(name, counting(100, "0.03"), { log: LOG });
  const random = seeded();
  for (let kill = 0; kill < 10; kill++) {
    // The moment does not matter: rotations begin 200 ms after the start.
    await sleep(200 + random() * 200);
    await daemon.kill();
    await daemon.run();
  }
  const expected = numbers(200_000);
  for (const name of names) {
    const log = logOf(daemon, name);
    await waitFor(() => readPosition(log).base + Deno.statSync(log).size === expected.length, {
      what: "every line to be written",
    });
    await waitFor(() => Deno.statSync(log).size <= 65_536 && readPosition(log).phase === "idle");
    assert(listArchives(log).length > 10, `${listArchives(log).length} archives`);
    assert(await wholeLog(log) === expected, `${name} is not whole`);
  }
});

Deno.test("daemon rotates, compresses and prunes, and logs still finds the last lines", async () => {
  const log = { max_size: "64KB", max_files: 3 };
  await daemon.startScript("app", counting(40, "0.02"), { log });
  const path = logOf(daemon, "app");
  await waitFor(async () =>
    (await daemon.client.call("logs", { target: "app", lines: 1 })).logs === "80000\n"
  );
  await waitFor(() => {
    const archives = listArchives(path);
    return archives.length === 3 && archives.every(({ compressed }) => compressed);
  }, { what: "three compressed archives" });
  const { logs } = await daemon.client.call("logs", { target: "app", lines: 9000 });
  assertEquals(logs, numbers(80_000).split("\n").slice(-9001).join("\n"));
  assertEquals(Deno.statSync(`${daemon.home}/apps/app/${"stdout.log.pos"}`).mode! & 0o777, 0o600);
  // The last rotation may still be compressing one archive and removing another.
  const modes = listArchives(path).flatMap((archive) => lstatIfAny(archive.path)?.mode ?? []);
  assert(modes.length > 0);
  for (const mode of modes) assertEquals(mode & 0o777, 0o600);
});

Deno.test("daemon rotates the log of an app that never becomes ready", {
  ignore: !CAN_COLLAPSE,
}, async () => {
  const starting = daemon.startScript("app", "seq 100000; exec sleep 1000", {
    ...{ log: LOG, wait_ready: true, ready_log: "never" },
  }).catch(() => {});
  await waitFor(() => listArchives(logOf(daemon, "app")).length > 2, { what: "archives" });
  assertEquals((await daemon.status("app")).state, "starting");
  await daemon.client.call("stop", { target: "app", force: true });
  await starting;
});

Deno.test("logs merges both streams by time, filtered by time and text", async () => {
  await daemon.startScript(
    "app",
    "echo out 1; sleep 1.5; echo err 2 >&2; sleep 1.5; echo out 3; sleep 1000",
  );
  await waitFor(async () => (await daemon.cli("logs", "app")).stdout.split("\n").length === 4);
  const text = async (...args: string[]) => (await daemon.cli("logs", "app", ...args)).stdout;
  assertEquals(await text(), "out 1\nerr 2\nout 3\n");
  assertEquals(await text("--err"), "err 2\n");
  assertEquals(await text("--out", "-n", "1"), "out 3\n");
  assertEquals(await text("--grep", "^out"), "out 1\nout 3\n");
  assertEquals(await text("--grep", "^out", "--invert"), "err 2\n");
  const lines = JSON.parse(await text("--json")) as {
    [key in "name" | "stream" | "line" | "at"]: string;
  }[];
  assertEquals(lines.map(({ name, stream, line }) => [name, stream, line]), [
    ["app", "stdout", "out 1"],
    ["app", "stderr", "err 2"],
    ["app", "stdout", "out 3"],
  ]);
  const [first, second, third] = lines.map(({ at }) => Date.parse(at));
  assert(second! > first! && third! > second!);
  assertEquals(await text("--since", lines[1]!.at), "err 2\nout 3\n");
  assertEquals(await text("--until", lines[1]!.at), "out 1\nerr 2\n");
  assertEquals(await text("--since", "1h", "-n", "1"), "out 3\n");
  assertEquals(await text("-t", "-n", "1"), `${lines[2]!.at} out 3\n`);
  const none = await daemon.cli("logs", "app", "--since", "1 hour ago", "--grep", "absent");
  assertEquals([none.code, none.stdout], [0, ""]);
  assertEquals(none.stderr, "no matching lines\n");
  const noneJson = await daemon.cli("logs", "app", "--grep", "absent", "--json");
  assertEquals([noneJson.stdout, noneJson.stderr], ["[]\n", ""]);
  const bad = await daemon.cli("logs", "app", "--grep", "(");
  assertEquals(bad.code, 2);
  assertStringIncludes(bad.stderr, 'Invalid "grep" "("');
  assertStringIncludes(
    (await daemon.cli("logs", "app", "--since", "soon")).stderr,
    'Invalid "since"',
  );
});

Deno.test("logs -f -n 0 shows only new lines, each once, through rotation, flush and restart", {
  ignore: !CAN_COLLAPSE,
}, async () => {
  const gate = `${daemon.home}/gate`;
  const script = `read n <${gate}; seq $n; exec sleep 1000`;
  await new Deno.Command("mkfifo", { args: [gate] }).output();
  await daemon.startScript("app", script, { log: LOG });
  const go = (n: number) => Deno.writeTextFile(gate, `${n}\n`);
  await go(1);
  await waitFor(async () => (await daemon.cli("logs", "app")).stdout === "1\n");
  const abort = new AbortController();
  const stream = await daemon.client.stream(
    "/logs?target=app&follow=true&new=true&stdout=true",
    abort.signal,
  );
  let seen = "";
  const reading = (async () => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) seen += chunk;
  })().catch(() => {});
  const lines = () => seen.trim().split("\n").map((line) => JSON.parse(line).line).join("\n");
  await daemon.client.call("restart", "app");
  await go(60_000);
  await waitFor(() => listArchives(logOf(daemon, "app")).length > 3, {
    what: "rotations",
  });
  await waitFor(() => seen.includes('"60000"'));
  await daemon.client.call("flush", "app");
  assertEquals((await daemon.cli("logs", "app")).stdout, "");
  assertEquals(listArchives(logOf(daemon, "app")), []);
  await daemon.client.call("restart", "app");
  await go(3);
  await waitFor(() =>
    seen.includes('"3","at"') && seen.trim().endsWith("}") && lines().endsWith("2\n3")
  );
  abort.abort();
  await reading;
  assertEquals(`${lines()}\n` === numbers(60_000) + numbers(3), true);
});

Deno.test("logs shows no lines of a deleted app with the same name, which stay in the files", async () => {
  const writes = async (word: string) => {
    await daemon.startScript("app", `seq -f '${word} %g' 20000; exec sleep 1000`, { log: LOG });
    const log = logOf(daemon, "app");
    await waitFor(async () => (await wholeLog(log)).endsWith(`${word} 20000\n`));
  };
  await writes("old");
  await waitFor(() => listArchives(logOf(daemon, "app")).length > 0);
  await daemon.client.call("delete", "app");
  await daemon.startScript("app", "exec sleep 1000", { log: LOG });
  assertEquals((await daemon.client.call("logs", { target: "app" })).logs, "");
  await daemon.client.call("delete", "app");
  await writes("new");
  await daemon.kill();
  await daemon.run();
  const expected = numbers(20_000).replace(/^(?=.)/gm, "new ");
  for (const words of [["-n", "0"], ["--since", "1h"], ["--grep", "."], ["-n", "10000"]]) {
    const { stdout } = await daemon.cli("logs", "app", "--out", ...words);
    const wanted = words.includes("10000")
      ? expected.split("\n").slice(-10_001).join("\n")
      : expected;
    assert(stdout === wanted, `${words.join(" ")}: ${stdout.slice(0, 50)}`);
  }
  assert((await wholeLog(logOf(daemon, "app"))).startsWith("old 1\n"));
});

Deno.test("daemon recreates a deleted log at the restart, rejects a link and names what it cannot read", async () => {
  await daemon.startScript("app", "echo hello; exec sleep 1000");
  const log = logOf(daemon, "app");
  await waitFor(() => Deno.readTextFileSync(log) === "hello\n");
  await Deno.remove(log);
  await daemon.client.call("restart", "app");
  await waitFor(() => Deno.readTextFileSync(log) === "hello\n");
  await Deno.remove(log);
  await Deno.symlink("/etc/passwd", log);
  const { results: [result] } = await daemon.client.call("restart", "app");
  assertEquals(result!.ok, false);
  assertStringIncludes(result!.error!, "it is a symbolic link");
  await Deno.remove(log);
  await Deno.mkdir(log);
  const { code, stderr } = await daemon.cli("logs", "app");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "Cannot read the logs: Is a directory");
});

Deno.test("daemon stays small and answers despite a line of 300 MB", {
  ignore: Deno.build.os !== "linux" || !CAN_COLLAPSE,
}, async () => {
  await using daemon = await TestDaemon.start();
  const before = residentBytes(daemon.pid);
  const bytes = 300_000_000;
  await daemon.startScript("app", `head -c ${bytes} /dev/zero | tr '\\0' x; exec sleep 1000`, {
    log: { max_size: "32MB", max_files: 3, compress: false },
  });
  const log = logOf(daemon, "app");
  let most = 0;
  await waitFor(() => {
    most = Math.max(most, residentBytes(daemon.pid));
    return readPosition(log).base + Deno.statSync(log).size === bytes &&
      Deno.statSync(log).size <= 33_554_432;
  }, { what: "the line to be written and rotated" });
  const { logs } = await daemon.client.call("logs", { target: "app", lines: 5 });
  assertEquals(logs.length, 1024 * 1024);
  assertEquals((await daemon.cli("logs", "app", "-n", "2")).stdout.length > 60_000, true);
  most = Math.max(most, residentBytes(daemon.pid));
  assert(most - before < 80_000_000, `grew by ${most - before}`);
  assertEquals(listArchives(log).length, 3);
});

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))![1]) * 1024;
}

Deno.test("a failed start and why show the last output of that run, not of earlier ones", async () => {
  const fails = async (word: string) => {
    const script = `echo ${word} >&2; exit 1`;
    const { code, stderr } = await daemon.cli(
      ...["start", "--name", "app", "--restart", "never", "--", "/bin/sh", "-c", script],
    );
    assertEquals(code, 1);
    return stderr;
  };
  assertStringIncludes(await fails("first"), "first");
  await daemon.client.call("delete", "app");
  const second = await fails("second");
  assertStringIncludes(second, "second");
  assert(!second.includes("first"), second);
  const { error_line, last_output } = await daemon.client.call("why", "app");
  assertEquals([error_line, last_output], ["second", ["second"]]);
});

Deno.test("logs --level error -n shows the end of a longer stack trace", async () => {
  const trace = Array.from({ length: 30 }, (_, i) => `    at f${i} (app.js:${i}:1)`);
  const lines = ["fine", "ERROR boom", ...trace];
  await daemon.startScript("app", `printf '%s\\n' '${lines.join("' '")}'; exec sleep 1000`);
  await waitFor(() =>
    Deno.readTextFileSync(`${daemon.home}/apps/app/stdout.log`).includes("at f29")
  );
  const shown = async (...words: string[]) =>
    (await daemon.cli("logs", "app", "--level", "error", ...words)).stdout.trimEnd().split("\n");
  assertEquals(await shown("-n", "3"), trace.slice(-3));
  assertEquals(await shown("-n", "100"), lines.slice(1));
});

Deno.test("logs -f of all starts without an app, and shows each later one, even a recreated one", async () => {
  const leave = new AbortController();
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token");
  const { signal } = leave;
  const streams = [
    await daemon.client.stream("/logs?follow=true", signal),
    await daemon.client.stream("/logs?follow=true&new=true", signal, { from: {} }),
    await new DaemonClient(new UrlWay(url, token)).stream("/logs?follow=true", signal),
  ];
  const seen = streams.map(() => "");
  const reading = streams.map(async (stream, at) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) seen[at] += text;
  });
  const shown = (line: string) =>
    waitFor(() => seen.every((text) => text.split(`"line":"${line}"`).length === 2), {
      what: () => `${line} once in ${JSON.stringify(seen)}`,
    });
  await daemon.startScript("app", "echo first; exec sleep 1000");
  await shown("first");
  await daemon.client.call("delete", "app");
  await daemon.startScript("app", "echo second; exec sleep 1000");
  await daemon.startScript("other", "echo third >&2; exec sleep 1000");
  for (const line of ["first", "second", "third"]) await shown(line);
  leave.abort();
  await Promise.allSettled(reading);
});

Deno.test("a failed reload with overlap shows the output of the new run", async () => {
  const fail = `${daemon.home}/fail`;
  const script = `if [ -e ${fail} ]; then echo no database >&2; exit 1; fi; ` +
    "echo serving >&2; exec sleep 1000";
  await daemon.startScript("app", script, { overlap: true, min_uptime: "1s" });
  Deno.writeTextFileSync(fail, "");
  const { code, stderr } = await daemon.cli("reload", "app");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "no database");
  assert(!stderr.includes("serving"), stderr);
});

Deno.test("a reload with overlap that its pre_start prevents shows what that printed", async () => {
  const fail = `${daemon.home}/fail`;
  await daemon.startScript("app", "echo serving >&2; exec sleep 1000", {
    ...{ overlap: true, restart_policy: "never" },
    hooks: { pre_start: `if [ -e ${fail} ]; then echo no migration; exit 1; fi` },
  });
  Deno.writeTextFileSync(fail, "");
  const { code, stderr } = await daemon.cli("reload", "app");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "no migration");
  assert(!stderr.includes("serving"), stderr);
  // The old run ends on its own: its output counts.
  Deno.kill((await daemon.status("app")).pid, "SIGKILL");
  await waitFor(async () => (await daemon.status("app")).state === "crashed");
  const why = await daemon.cli("why", "app");
  assertStringIncludes(why.stdout, "serving");
});
