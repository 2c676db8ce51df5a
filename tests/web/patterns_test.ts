/** Expressions that are exponential in other engines, through every surface that accepts one. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { TestWeb } from "../support/web.ts";

const EVIL = "(a+)+$";
const LOOKS = "(?=a)b";
const P = "/api/v1/processes/app";

const web = TestWeb.ofFile();

function urlOf(path: string, grep: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}grep=${encodeURIComponent(grep)}`;
}

Deno.test("web greps for any expression, and answers other clients meanwhile", async () => {
  const evil = "a".repeat(2000);
  await web.daemon.startScript("app", `echo ${evil}a; echo '${evil}!'; exec sleep 1000`);
  await waitFor(async () => (await web.ask("GET", `${P}/logs`)).body.lines === "50");
  await waitFor(async () => (await web.ask("GET", `${P}/logs`)).body.logs.endsWith("!\n"));
  const found = await web.ask("GET", urlOf(`${P}/logs`, EVIL));
  assertEquals([found.status, found.body.logs], [200, `${evil}a\n`]);
  const streamed = await web.ask("GET", urlOf("/api/v1/logs?target=app", EVIL));
  assertEquals(streamed.text.trim().split("\n").map((line) => JSON.parse(line).line), [`${evil}a`]);
  using feed = await web.feed();
  feed.send({ type: "subscribe", topics: ["logs"], target: "app", lines: 10, grep: EVIL });
  await waitFor(() => feed.of("log").length === 1);
  assertEquals(feed.of("log")[0].lines.length, 1);
  const { code, stdout } = await web.daemon.cli("logs", "app", "--grep", EVIL);
  assertEquals(code, 0);
  assert(stdout.includes(`${evil}a`) && !stdout.includes("!"), stdout.slice(0, 100));
  const mcp = {
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: "get_logs", arguments: { target: "app", grep: EVIL } },
  };
  const accept = { accept: "application/json, text/event-stream" };
  const told = await web.ask("POST", "/mcp", mcp, accept);
  assert(told.text.includes(`${evil}a`) && !told.text.includes("a!"), told.text.slice(0, 200));
  assertEquals((await web.ask("GET", "/api/v1/ping")).status, 200);
});

Deno.test("long searches delay no stop, from any surface", async () => {
  const { daemon } = web;
  await daemon.startScript("big", "exec sleep 1000", { log: { max_size: "1GB" } });
  await daemon.startScript("other", "exec sleep 1000");
  // No state of the expression repeats: each character takes time proportional to the expression.
  let seed = 7;
  const next = () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) >> 16;
  const line = Array.from({ length: 1000 }, () => "abcxyz "[next() % 7]).join("");
  await Deno.writeTextFile(`${daemon.home}/apps/big/stdout.log`, `${line}\n`.repeat(20_000));
  const grep = "[a-c].{250}[0-9]";
  using feed = await web.feed();
  feed.send({ type: "subscribe", topics: ["logs"], target: "big", lines: 5, grep });
  const abort = new AbortController();
  const { signal } = abort;
  const call = {
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: "get_logs", arguments: { target: "big", lines: 5, grep } },
  };
  const headers = {
    authorization: `Bearer ${web.token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  let done = 0;
  const searching = [
    fetch(web.url + urlOf(`/api/v1/processes/big/logs`, grep), { headers, signal }),
    fetch(`${web.url}/mcp`, { method: "POST", headers, body: JSON.stringify(call), signal })
      .then((response) => response.text()),
    daemon.client.call("logs", { target: "big", lines: 5, grep }, { signal }),
  ].map((one) => one.catch(() => {}).finally(() => done++));
  // A hang made clients give up on the daemon after some seconds.
  for (let i = 0; i < 3; i++) {
    await daemon.client.call("stop", { target: "other" });
    await daemon.client.call("restart", "other");
  }
  assertEquals([done, feed.of("log").length, feed.of("error").length], [0, 0, 0]);
  abort.abort();
  await Promise.all(searching);
});

Deno.test("web explains what is wrong with an exponential expression, the same way everywhere", async () => {
  await web.daemon.startScript("app", "echo ab; exec sleep 1000");
  const message =
    `Invalid "grep" "${LOOKS}": look-around and back references are not supported, because they may take forever`;
  for (const path of [`${P}/logs`, "/api/v1/logs?target=app", "/api/v1/logs?follow=true"]) {
    const { status, body } = await web.ask("GET", urlOf(path, LOOKS));
    assertEquals([status, body.code, body.error], [400, "bad_request", message], path);
  }
  using feed = await web.feed();
  feed.send({ type: "subscribe", topics: ["logs"], target: "app", grep: LOOKS });
  await waitFor(() => feed.of("error").length === 1);
  assertEquals(feed.of("error")[0].error, message);
  const { code, stderr } = await web.daemon.cli("logs", "app", "--grep", LOOKS);
  assertEquals(code, 2);
  assert(stderr.includes(message), stderr);
});

Deno.test("a ready_log matches on any line, and is rejected when it may take exponential time", async () => {
  const evil = "a".repeat(2000);
  const started = await web.daemon.startScript("app", `echo '${evil}!'; echo up; exec sleep 1000`, {
    ...{ wait_ready: true, ready_log: "(a+)+$|^(u|p)+$", listen_timeout: "20s", wait: true },
  });
  assertEquals([started.state, started.ready], ["running", true]);
  const config = { name: "b", entrypoint: "/bin/true", cwd: "/", wait_ready: true };
  const refused = await web.ask("POST", "/api/v1/processes", { ...config, ready_log: LOOKS });
  assertEquals([refused.status, refused.body.code], [422, "invalid_config"]);
  assertMatch(refused.body.error, /^Invalid "ready_log" "\(\?=a\)b": look-around/);
  const changed = await web.ask("PATCH", P, { ready_log: LOOKS });
  assertEquals([changed.status, changed.body.code], [422, "invalid_config"]);
});
