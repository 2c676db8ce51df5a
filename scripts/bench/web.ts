// deno-lint-ignore-file no-console
/**
 * Measures the web surface under load (Linux, with wrk).
 *
 * `deno run -A scripts/bench/web.ts [processes] [clients]`: compares GET /api/v1/processes with a bare
 * Deno.serve that returns the same bytes, and measures the feed with many WebSocket clients.
 */

import { sleep } from "../../src/platform/clock.ts";
import { freePort } from "../../tests/support/http_load.ts";
import { TestDaemon } from "../../tests/support/procsup.ts";
import { waitFor } from "../../tests/support/wait_for.ts";

const SECONDS = 5;
const ROUNDS = 3;

interface Target {
  readonly url: string;
  readonly token: string;
}

/** Requests per second, as counted by wrk. */
async function load({ url, token }: Target): Promise<number> {
  const { stdout } = await new Deno.Command("wrk", {
    args: ["-t1", "-c16", `-d${SECONDS}s`, "-H", `Authorization: Bearer ${token}`, url],
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (/Non-2xx/.test(text)) throw new Error(text);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
}

async function compareWithBare(target: Target): Promise<void> {
  const response = await fetch(target.url, {
    headers: { authorization: `Bearer ${target.token}` },
  });
  const text = await response.text();
  const port = freePort();
  const source = `const body = new TextEncoder().encode(${JSON.stringify(text)});
    Deno.serve({ port: ${port}, hostname: "127.0.0.1" }, () =>
      new Response(body, { headers: { "content-type": "application/json" } }));`;
  const bare = new Deno.Command(Deno.execPath(), {
    args: ["eval", source],
    stdout: "null",
  }).spawn();
  const url = `http://127.0.0.1:${port}/`;
  await waitFor(() => fetch(url).then((answer) => answer.text()));
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const theirs = await load({ url, token: "" });
    const ours = await load(target);
    ratios.push(ours / theirs);
    console.log(
      `  ${ours.toFixed(0)}/s, bare ${theirs.toFixed(0)}/s: ${(ours / theirs).toFixed(2)}`,
    );
  }
  bare.kill("SIGKILL");
  await bare.status;
  const median = ratios.sort((a, b) => a - b)[ROUNDS >> 1]!;
  console.log(`GET processes (${text.length} bytes): ${median.toFixed(2)} of a bare Deno.serve`);
}

/** CPU time of a process in milliseconds. */
function cpuMs(pid: number): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function feed(daemon: TestDaemon, { url, token }: Target, clients: number): Promise<void> {
  const state = { lists: 0, crashed: 0 };
  const sockets = await Promise.all(
    Array.from({ length: clients }, () => openSocket(url, token, state)),
  );
  await waitFor(() => state.lists >= clients);
  const [cpu, at, lists] = [cpuMs(daemon.pid), performance.now(), state.lists];
  await sleep(10_000);
  const percent = (cpuMs(daemon.pid) - cpu) / (performance.now() - at) * 100;
  console.log(
    `${clients} WebSockets: ${percent.toFixed(1)} % of a core, ${
      state.lists - lists
    } lists in 10 s`,
  );
  const { pid } = (await daemon.client.call("list"))[0]!;
  state.crashed = 0;
  const killed = performance.now();
  Deno.kill(pid, "SIGKILL");
  await waitFor(() => state.crashed >= clients, { what: "all clients are notified" });
  console.log(
    `All clients were notified of a crash after ${(performance.now() - killed).toFixed(0)} ms`,
  );
  for (const socket of sockets) socket.close();
}

function openSocket(
  url: string,
  token: string,
  state: { lists: number; crashed: number },
): Promise<WebSocket> {
  const socket = new WebSocket(`${new URL(url).origin.replace("http", "ws")}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  socket.onmessage = ({ data }) => {
    state.lists++;
    if (data.includes('"crashed"')) state.crashed++;
  };
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(socket);
    socket.onerror = () => reject(new Error("A WebSocket was refused"));
  });
}

async function main([processes = "100", clients = "500"]: readonly string[]): Promise<void> {
  await using daemon = await TestDaemon.start();
  const { client } = daemon;
  await client.call("start", {
    ...{ name: "app", entrypoint: "/bin/sleep", args: ["100000"], cwd: "/" },
    ...{ instances: Number(processes), restart_policy: "never" },
  });
  const web = await client.call("web_start", {
    listen: "127.0.0.1:0",
    max_clients: Math.max(256, Number(clients)),
  });
  const { token } = await client.call("token");
  const target = { url: `${web.url}/api/v1/processes`, token };
  await compareWithBare(target);
  await feed(daemon, target, Number(clients));
}

await main(Deno.args);
