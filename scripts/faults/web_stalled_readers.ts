// deno-lint-ignore-file no-console
/**
 * Opens a thousand WebSockets of which nine hundred never read, while processes keep changing.
 * Expected: the daemon's memory grows by less than 200 MB, those that read get every list, those that
 * do not are dropped, and other clients are answered meanwhile.
 *
 * `deno run -A scripts/faults/web_stalled_readers.ts [clients] [stalled] [processes] [seconds]`
 */

import { sleep } from "../../src/platform/clock.ts";
import { TestDaemon } from "../../tests/support/procsup.ts";
import { waitFor } from "../../tests/support/wait_for.ts";

const MIB = 1024 * 1024;
const LIMIT = 200 * MIB;

function memoryOf(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
}

/** A client that subscribes to events and never reads. */
async function deaf(port: number, token: string): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ port });
  const head = `GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
    `Sec-WebSocket-Key: ${btoa("0123456789abcdef")}\r\n\r\n`;
  const desired = new TextEncoder().encode('{"type":"subscribe","topics":["events"]}');
  await connection.write(new TextEncoder().encode(head));
  await connection.write(Uint8Array.of(0x81, 0x80 | desired.length, 0, 0, 0, 0, ...desired));
  return connection;
}

interface Reader {
  lists: number;
  isOpen: boolean;
}

async function reader(url: string, token: string): Promise<Reader> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const state = { lists: 0, isOpen: true };
  socket.onmessage = ({ data }) => {
    if (data.startsWith('{"type":"process_list"')) state.lists++;
  };
  socket.onclose = () => state.isOpen = false;
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("A WebSocket was refused"));
  });
  return state;
}

/** Restarts a few processes at a time to cause events. */
function churn(daemon: TestDaemon, count: number): { stop(): Promise<number> } {
  let isOver = false;
  let restarts = 0;
  const one = async () => {
    while (!isOver) await daemon.client.call("restart", `app:${restarts++ % count}`);
  };
  const run = Promise.all(Array.from({ length: 8 }, one));
  return {
    async stop() {
      isOver = true;
      await run;
      return restarts;
    },
  };
}

async function main(
  [clients = "1000", stalled = "900", processes = "100", seconds = "70"]: readonly string[],
): Promise<number> {
  await using daemon = await TestDaemon.start();
  await daemon.client.call("start", {
    ...{ name: "app", entrypoint: "/bin/sleep", args: ["100000"], cwd: "/" },
    ...{ instances: Number(processes), min_uptime: "1ms" },
  });
  const { url } = await daemon.client.call("web_start", {
    ...{ listen: "127.0.0.1:0", max_clients: Number(clients) },
  });
  const { token } = await daemon.client.call("token");
  const port = Number(new URL(url).port);
  await fetch(`${url}/api/v1/processes`, { headers: { authorization: `Bearer ${token}` } })
    .then((answer) => answer.body?.cancel());
  const before = memoryOf(daemon.pid);
  const readers: Reader[] = [];
  for (let i = Number(stalled); i < Number(clients); i++) readers.push(await reader(url, token));
  const deafs: Deno.TcpConn[] = [];
  for (let i = 0; i < Number(stalled); i++) deafs.push(await deaf(port, token));
  let most = memoryOf(daemon.pid);
  const watch = setInterval(() => most = Math.max(most, memoryOf(daemon.pid)), 200);
  const news = churn(daemon, Number(processes));
  await sleep(Number(seconds) * 1000);
  const restarts = await news.stop();
  clearInterval(watch);
  // One more client than the limit allows while the stalled ones are connected.
  let room = 0;
  await waitFor(async () => {
    await reader(url, token);
    return ++room > 0;
  }, { timeoutMs: 60_000, what: "a deaf one to be dropped" });
  const lists = readers.map((one) => one.lists).sort((a, b) => a - b);
  const open = readers.filter(({ isOpen }) => isOpen).length;
  console.log(
    `${clients} WebSockets, ${stalled} of them deaf, ${restarts} restarts in ${seconds} s: ` +
      `memory ${(before / MIB).toFixed(0)} → ${(most / MIB).toFixed(0)} MiB at most; ` +
      `${open} of ${readers.length} readers are there, with ${lists[0]}…${lists.at(-1)} lists`,
  );
  for (const connection of deafs) connection.close();
  return most - before < LIMIT && open === readers.length && lists[0]! > 10 ? 0 : 1;
}

Deno.exit(await main(Deno.args));
