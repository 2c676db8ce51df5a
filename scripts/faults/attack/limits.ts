/** Attacks with tokens: on memory and time, on what they may not see, and with malformed requests. */

import { pathsIn } from "../../../src/platform/files/paths.ts";
import { waitFor } from "../../../tests/support/wait_for.ts";
import { type Attack, holds, type Scene, within } from "./scene.ts";

/** The longest `list` of the owner, in milliseconds, of some in a row. */
async function longestList(scene: Scene, count = 10): Promise<number> {
  let longest = 0;
  for (let i = 0; i < count; i++) {
    const asked = performance.now();
    const { status } = await within(20_000, "list", scene.ask(scene.web.token, "GET", LIST));
    holds(status === 200, `the owner's list gives ${status}`);
    longest = Math.max(longest, performance.now() - asked);
  }
  return Math.round(longest);
}

const LIST = "/api/v1/processes";

/** An app with a log of 50 MB. */
async function bigLog(scene: Scene): Promise<void> {
  const line = `{"level":"info","text":"${"x".repeat(80)}"}`;
  const script = `yes '${line}' | head -c 50000000; exec sleep 100000`;
  await scene.daemon.startScript("big", script, { log: { max_size: "1GB" } });
  const log = `${scene.daemon.home}/apps/big/stdout.log`;
  for (let size = 0; size < 50_000_000;) {
    size = Deno.statSync(log).size;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Sends requests, and reads none of the answers. */
async function stalled(scene: Scene, requests: readonly string[]): Promise<Deno.TcpConn[]> {
  return await Promise.all(requests.map((request) => scene.web.connect(request)));
}

/** A text frame of a client, masked with zeros. */
function frame(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  const head = bytes.length < 126
    ? [0x81, 0x80 | bytes.length]
    : [0x81, 0x80 | 126, bytes.length >> 8, bytes.length & 255];
  return new Uint8Array([...head, 0, 0, 0, 0, ...bytes]);
}

/** Requests with which a token makes the daemon read much. */
const COSTLY: Readonly<Record<string, (i: number) => string>> = {
  "whole logs of all apps": () => "/api/v1/logs?lines=0",
  "followed logs of all apps": () => "/api/v1/logs?follow=true&lines=10000",
  "the longest answers": (i) => `${LIST}/big${i % 30}/logs?lines=10000`,
  "searches and counts": (i) => `/api/v1/logs/${i % 2 ? "counts?since=1h" : "search?grep=in.*fo"}`,
  "reports and figures": (i) => i % 2 ? `${LIST}/big${i % 30}/why` : "/metrics",
  "the description of the API": () => "/openapi.json",
};

export const limits: Readonly<Record<string, Attack>> = {
  async "a read token asks 300 times for much, of 30 apps, and reads nothing"(scene) {
    const line = `{"level":"info","text":"${"x".repeat(80)}"}`;
    const fill = `yes '${line}' | head -c 3000000`;
    const names = Array.from({ length: 30 }, (_, i) => `big${i}`);
    for (const name of names) {
      const script = `${fill}; ${fill} >&2; exec sleep 100000`;
      await scene.daemon.startScript(name, script, { log: { max_size: "1GB" } });
    }
    const sizeOf = (name: string) =>
      Deno.statSync(`${scene.daemon.home}/apps/${name}/stderr.log`).size;
    await waitFor(() => names.every((name) => sizeOf(name) >= 3e6), { timeoutMs: 30_000 });
    const token = await scene.token("read");
    const head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const listBeside = async (path: (i: number) => string) => {
      const requests = Array.from({ length: 300 }, (_, i) => `GET ${path(i)} HTTP/1.1\r\n${head}`);
      const open = await stalled(scene, requests);
      const longest = await longestList(scene, 30);
      for (const connection of open) connection.close();
      return longest;
    };
    // It is made once.
    await scene.ask(scene.web.token, "GET", "/openapi.json");
    // On a busy machine, 300 requests for nothing take their time, too.
    const plain = await listBeside(() => "/api/v1/ping");
    const seen = [`nothing ${plain} ms`];
    for (const [what, path] of Object.entries(COSTLY)) {
      const longest = await listBeside(path);
      holds(longest < Math.max(500, 3 * plain), `${what}: the owner's list takes ${longest} ms`);
      seen.push(`${what} ${longest} ms, ${scene.memory()} MiB`);
    }
    const memory = scene.memory();
    holds(memory < 700, `the daemon takes ${memory} MiB: ${seen.join("; ")}`);
    return `list beside ${seen.join("; ")}`;
  },

  async "a read token opens 300 streams of logs, and 30 WebSockets with 16 logs, and reads none"(
    scene,
  ) {
    await bigLog(scene);
    const { token } = await scene.daemon.client.call("token_create", { name: "reader" });
    const before = await longestList(scene);
    const head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const paths = Array.from(
      { length: 300 },
      (_, i) =>
        i % 3 === 0 ? "follow=true&lines=10000" : i % 3 === 1 ? "lines=0" : "follow=true&grep=x",
    );
    const open = await stalled(
      scene,
      paths.map((query) => `GET /api/v1/logs?target=big&${query} HTTP/1.1\r\n${head}`),
    );
    const upgrade = scene.web.upgrade({ authorization: `Bearer ${token}` });
    for (let i = 0; i < 30; i++) {
      const connection = await scene.web.connect(upgrade);
      open.push(connection);
      await connection.read(new Uint8Array(1024));
      for (let id = 0; id < 16; id++) {
        const message = { type: "open_log", id, target: ["big"], follow: true, lines: 10_000 };
        await connection.write(frame(JSON.stringify(message)));
      }
    }
    const longest = await longestList(scene, 30);
    const memory = scene.memory();
    for (const connection of open) connection.close();
    holds(longest < 500, `the owner's list takes ${longest} ms, ${before} before`);
    holds(memory < 500, `the daemon takes ${memory} MiB`);
    return `list ${longest} ms (${before} before), daemon ${memory} MiB`;
  },

  async "a token for some apps looks for and acts on others"(scene) {
    const { client } = scene.daemon;
    const grant = { name: "shop", role: "operate", only: ["ns:shop"] } as const;
    const { token } = await client.call("token_create", grant);
    const pid = await scene.appPid();
    const { id } = await scene.daemon.status("app");
    const targets = ["app", id, "0", "all", "ns:default", "default:*", "@:", `@:${id}`];
    let tried = 0;
    for (const target of targets.map(encodeURIComponent)) {
      for (const verb of ["stop", "restart", "start", "flush", "signal", "scale", "reload"]) {
        await scene.ask(token, "POST", `${LIST}/${target}/${verb}`, {});
        tried++;
      }
      for (const path of ["", "/logs", "/history", "/metrics", "/why"]) {
        const { text } = await scene.ask(token, "GET", `${LIST}/${target}${path}`);
        holds(
          !text.includes('"name":"app"') && !text.includes("up\\n"),
          `${target}${path} shows it`,
        );
        tried++;
      }
    }
    for (const path of [LIST, "/metrics", "/api/v1/cron", "/api/v1/ports", "/api/v1/logs"]) {
      const { text } = await scene.ask(token, "GET", path);
      holds(!/"app"/.test(text), `${path} shows it`);
      tried++;
    }
    for (const body of [{ name: "x", role: "admin" }, { name: "x", role: "read" }]) {
      const { status } = await scene.ask(token, "POST", "/api/v1/tokens", body);
      holds(status !== 200 && status !== 201, "it makes a token");
    }
    holds(await scene.appPid() === pid, "the app was restarted");
    return `${tried} ways: the app does not exist`;
  },

  async "bodies with thousands of mistakes, and malformed chunks"(scene) {
    const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`nmae${i}`, i]));
    const config = { name: "x", entrypoint: "/bin/true", cwd: "/" };
    const bodies = [
      { ...config, ...keys },
      { ...config, env: { A: keys } },
      { ...config, health_check: keys },
      { ...config, depends_on: keys, tags: keys },
      { [`k${"x".repeat(500_000)}`]: 1 },
    ];
    let [slowest, longest, cpu] = [0, 0, 0];
    for (const body of bodies) {
      const asked = scene.ask(scene.web.token, "POST", LIST, body);
      const before = scene.cpuMs();
      slowest = Math.max(slowest, await scene.longestPing(asked));
      cpu = Math.max(cpu, scene.cpuMs() - before);
      const { status, text } = await asked;
      longest = Math.max(longest, text.length);
      holds(status >= 400 && status < 500, `gives ${status}`);
    }
    holds(cpu < 1500, `${cpu} ms of the processor for a body, no answer for ${slowest} ms`);
    holds(longest < 50_000, `an error of ${longest} bytes`);
    const path = pathsIn(scene.daemon.home).socket;
    for (const chunk of ["zz\r\n", "1\r\nabc\r\n", `${"1".repeat(5000)}\r\n`]) {
      using connection = await Deno.connect({ transport: "unix", path });
      const head = "POST /ipc HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
      await connection.write(new TextEncoder().encode(head + chunk));
      const answer = await new Response(connection.readable).text();
      holds(answer.startsWith("HTTP/1.1 400 "), `a chunk gives ${answer.split("\r\n")[0]}`);
    }
    return `${cpu} ms of the processor, longest ping ${slowest} ms, longest error ${longest} bytes; chunks: 400`;
  },
};
