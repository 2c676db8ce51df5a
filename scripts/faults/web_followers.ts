// deno-lint-ignore-file no-console
/**
 * Many who follow one busy log, over WebSocket, REST and the Unix socket, while some of them do not
 * read. Expected: the daemon's memory stays within 60 MB of what it was, whoever reads gets every
 * line, and others are answered meanwhile.
 *
 * `deno run -A scripts/faults/web_followers.ts [ws|rest|unix] [followers] [stalled] [lines a second]`
 */

import { waitFor } from "../../tests/support/wait_for.ts";
import { TestWeb } from "../../tests/support/web.ts";

const SECONDS = 12;
const MIB = 1024 * 1024;

type Kind = "ws" | "rest" | "unix";

interface Follower {
  lines: number;
  refused: boolean;
}

/** Counts the lines that come as JSON, a line each. */
async function count(body: ReadableStream<Uint8Array>, follower: Follower): Promise<void> {
  for await (const chunk of body) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) follower.lines++;
  }
}

async function followHttp(web: TestWeb, kind: Kind, reads: boolean): Promise<Follower> {
  const follower = { lines: 0, refused: false };
  const path = kind === "rest" ? "/api/v1/logs" : "/logs";
  const options = kind === "rest" ? {} : {
    client: Deno.createHttpClient({
      proxy: { transport: "unix", path: `${web.daemon.home}/procsup.sock` },
    }),
  };
  const origin = kind === "rest" ? web.url : "http://localhost";
  const response = await fetch(`${origin}${path}?target=chatty&follow=true&new=true`, {
    ...options,
    headers: { authorization: `Bearer ${web.token}` },
  });
  follower.refused = response.status !== 200;
  if (follower.refused) await response.body?.cancel();
  else if (reads) void count(response.body!, follower).catch(() => {});
  return follower;
}

async function followSocket(web: TestWeb, reads: boolean): Promise<Follower> {
  const follower = { lines: 0, refused: false };
  const wanted = JSON.stringify({ type: "subscribe", topics: ["logs"], target: "chatty" });
  if (!reads) {
    const connection = await web.connect(web.upgrade());
    const bytes = new TextEncoder().encode(wanted);
    await connection.write(Uint8Array.of(0x81, 0x80 | bytes.length, 0, 0, 0, 0, ...bytes));
    return follower;
  }
  const socket = new WebSocket(`${web.url.replace("http", "ws")}/ws`, {
    headers: { authorization: `Bearer ${web.token}` },
  });
  socket.onmessage = ({ data }) => {
    if (data.startsWith('{"type":"log"')) follower.lines += JSON.parse(data).lines.length;
    if (data.startsWith('{"type":"error"')) follower.refused = true;
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = (event) =>
      reject(new Error(`A WebSocket was refused: ${(event as ErrorEvent).message}`));
  });
  socket.send(wanted);
  return follower;
}

/** The worst and the median of answers to a healthy client, in milliseconds. */
async function healthy(web: TestWeb, until: number): Promise<string> {
  const times: number[] = [];
  while (performance.now() < until) {
    const asked = performance.now();
    await web.ask("GET", "/api/v1/processes");
    times.push(performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  times.sort((a, b) => a - b);
  return `median ${times[times.length >> 1]!.toFixed(0)} ms, worst ${times.at(-1)!.toFixed(0)} ms`;
}

async function main([kind = "ws", all = "200", stalled = "0", rate = "2000"]: readonly string[]) {
  await using web = await TestWeb.start();
  const script = "my $n = 0; $| = 1; for (;;) { my $t = ''; " +
    `$t .= sprintf("%07d %s\\n", $n++, "x" x 90) for 1..${Number(rate) / 20}; print $t; ` +
    "select(undef, undef, undef, 0.05) }";
  await web.daemon.client.call("start", {
    ...{ name: "chatty", entrypoint: "/usr/bin/perl", args: ["-e", script], cwd: "/" },
  });
  await waitFor(async () => (await web.ask("GET", "/api/v1/processes")).body[0].pid > 0);
  const before = web.memory();
  const followers: Follower[] = [];
  for (let i = 0; i < Number(all); i++) {
    const reads = i >= Number(stalled);
    followers.push(
      kind === "ws" ? await followSocket(web, reads) : await followHttp(web, kind as Kind, reads),
    );
  }
  let most = 0;
  const watch = setInterval(() => most = Math.max(most, web.memory()), 200);
  const answers = await healthy(web, performance.now() + SECONDS * 1000);
  clearInterval(watch);
  const reading = followers.slice(Number(stalled)).filter(({ refused }) => !refused);
  const got = reading.map(({ lines }) => lines).sort((a, b) => a - b);
  const refused = followers.filter((follower) => follower.refused).length;
  console.log(
    `${kind}: ${all} followers, ${stalled} stalled, ${refused} refused; ` +
      `memory ${(before / MIB).toFixed(0)} → ${(most / MIB).toFixed(0)} MiB at most; ` +
      `lines ${got[0]}…${got.at(-1)}; a healthy client: ${answers}`,
  );
}

await main(Deno.args);
Deno.exit(0);
