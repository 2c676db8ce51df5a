// deno-lint-ignore-file no-console
/**
 * Follows one busy log with many clients over WebSocket, REST or the Unix socket, some of which do not
 * read. Expected: the daemon's memory stays bounded for any number and rate, all readers get the same
 * amount, no client is dropped, and another client is answered meanwhile.
 *
 * `deno run -A scripts/faults/web_followers.ts [ws|rest|unix] [followers] [stalled] [lines a second]`
 */

import { waitFor } from "../../tests/support/wait_for.ts";
import { TestWeb } from "../../tests/support/web.ts";

const SECONDS = 12;
const MIB = 1024 * 1024;

/** Readers only count bytes, because hundreds of them share one program. */
interface Follower {
  bytes: number;
  isOver: boolean;
}

/** What a follower sends on its connection. */
function requestFor(web: TestWeb, kind: string): string {
  if (kind === "ws") return web.upgrade();
  const path = kind === "rest" ? "/api/v1/logs" : "/logs";
  return `GET ${path}?target=chatty&follow=true&new=true HTTP/1.1\r\nHost: localhost\r\n` +
    `Authorization: Bearer ${web.token}\r\n\r\n`;
}

async function follow(web: TestWeb, kind: string, reads: boolean): Promise<Follower> {
  const connection = kind === "unix"
    ? await Deno.connect({ transport: "unix", path: `${web.daemon.home}/procsup.sock` })
    : await Deno.connect({ port: web.port });
  await connection.write(new TextEncoder().encode(requestFor(web, kind)));
  const follower = { bytes: 0, isOver: false };
  if (reads) void count(connection, follower);
  if (kind === "ws") await connection.write(SUBSCRIBE);
  return follower;
}

/** A masked frame. A mask of zeros leaves the text unchanged. */
const WISH = new TextEncoder().encode('{"type":"subscribe","topics":["logs"],"target":"chatty"}');
const SUBSCRIBE = Uint8Array.of(0x81, 0x80 | WISH.length, 0, 0, 0, 0, ...WISH);

const read = new Uint8Array(MIB);

async function count(connection: Deno.Conn, follower: Follower): Promise<void> {
  try {
    for (let size; (size = await connection.read(read)) !== null;) follower.bytes += size;
  } catch {
    // The daemon dropped the client.
  }
  follower.isOver = true;
}

/** CPU seconds that a process has used. */
function cpuSeconds(pid: number): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Median and maximum duration of ten requests a second from a separate program. */
async function healthy(web: TestWeb): Promise<string> {
  const { stdout } = await new Deno.Command("curl", {
    args: [
      ...["-s", "-o", "/dev/null", "-w", "%{time_total}\\n", "--rate", "10/s"],
      ...["-H", `Authorization: Bearer ${web.token}`],
      `${web.url}/api/v1/processes?[1-${SECONDS * 10}]`,
    ],
  }).output();
  const times = new TextDecoder().decode(stdout).trim().split("\n").map((text) => +text * 1000);
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
    followers.push(await follow(web, kind, i >= Number(stalled)));
  }
  let most = 0;
  const watch = setInterval(() => most = Math.max(most, web.memory()), 200);
  const [cpuBefore, since] = [cpuSeconds(web.daemon.pid), performance.now()];
  const answers = await healthy(web);
  const seconds = (performance.now() - since) / 1000;
  const cpu = (cpuSeconds(web.daemon.pid) - cpuBefore) / seconds * 100;
  clearInterval(watch);
  const got = followers.slice(Number(stalled)).map(({ bytes }) => bytes / MIB / seconds)
    .sort((a, b) => a - b);
  const dropped = followers.filter(({ isOver }) => isOver).length;
  console.log(
    `${kind}, ${rate} lines a second: ${all} followers, ${stalled} deaf, ${dropped} dropped; ` +
      `memory ${(before / MIB).toFixed(0)} → ${(most / MIB).toFixed(0)} MiB at most; ` +
      `${cpu.toFixed(0)} % of a core; each got ${got[0]?.toFixed(2)}…${got.at(-1)?.toFixed(2)} ` +
      `MiB a second; a healthy client: ${answers}`,
  );
}

await main(Deno.args);
Deno.exit(0);
