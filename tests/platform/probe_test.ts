/** Probes on a machine that is out of file descriptors. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { probeHttp } from "../../src/platform/sockets/probe.ts";

const src = new URL("../../src/platform/", import.meta.url).href;

/** Takes every descriptor, then probes addresses that answer and that do not. */
const PROGRAM = `
import { isLack } from "${src}lack.ts";
import { probeHttp, probeTcp } from "${src}sockets/probe.ts";
import { connectToRun } from "${src}launch/run_connection.ts";
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response());
const endpoint = "127.0.0.1:" + server.addr.port;
const run = { runId: "none", wrapperPid: Deno.pid };
const options = {
  timeoutMs: 5000,
  signal: new AbortController().signal,
  connect: (address, signal) => connectToRun({ run, address, isShared: false }, signal),
};
const asks = () => [
  probeHttp({ url: "http://" + endpoint + "/" + Math.random() }, options),
  probeTcp(endpoint, options),
];
const held = [];
try { for (;;) held.push(Deno.openSync("/dev/null")); } catch {}
const without = await Promise.allSettled(asks());
for (const file of held) file.close();
const after = await Promise.all(asks());
console.log(JSON.stringify([without.map(({ reason }) => isLack(reason)), after]));
Deno.exit();
`;

Deno.test("a probe without a descriptor throws, because it says nothing about the address", async () => {
  const { stdout } = await new Deno.Command("/bin/sh", {
    args: ["-c", 'ulimit -n 64; exec "$0" eval "$1"', Deno.execPath(), PROGRAM],
    stdout: "piped",
  }).output();
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), [[true, true], [null, null]]);
});

Deno.test("what a probe says has no secret part of its URL", async () => {
  using server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const at = `127.0.0.1:${server.addr.port}`;
  const options = {
    timeoutMs: 50,
    signal: new AbortController().signal,
    connect: () => Deno.connect({ port: server.addr.port }),
  };
  const said = await probeHttp({ url: `http://me:s3cret@${at}/?key=s3cret&b=1` }, options);
  assertStringIncludes(said!, `http://***@${at}/?key=***&b=***`);
  assertEquals(said!.includes("s3cret"), false, said);
});
