/** Attacks with a session by other web pages, or by other programs on ports of this machine. */

import { waitFor } from "../../../tests/support/wait_for.ts";
import { signIn, type TestSession, upgradeRequest } from "../../../tests/support/web.ts";
import { type Attack, BOB, holds, type Scene, within } from "./scene.ts";

const PROCESSES = "/api/v1/processes";

function session(scene: Scene): Promise<TestSession> {
  return signIn(scene.web.url, { token: scene.web.token });
}

/** Opens a WebSocket with headers only. Returns what the server sends within 1.5 seconds. */
async function feed(scene: Scene, headers: Record<string, string>): Promise<string> {
  const request = upgradeRequest({ host: `127.0.0.1:${scene.web.port}`, ...headers });
  using connection = await scene.web.connect(request);
  const timer = setTimeout(() => connection.close(), 1500);
  let text = "";
  try {
    for await (const part of connection.readable) text += new TextDecoder().decode(part);
  } catch {
    // Closed.
  }
  clearTimeout(timer);
  return text;
}

export const browser: Readonly<Record<string, Attack>> = {
  async "what a browser sends to every port of 127.0.0.1, and the public key of a tab"(scene) {
    const { id } = await session(scene);
    const pid = await scene.appPid();
    const mcp = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const guesses: Record<string, string>[] = [
      { cookie: `procsup_session=${id}` },
      { authorization: `Bearer ${id}` },
      { authorization: `Procsup ${id}` },
      { authorization: `Procsup ${[id, ...Array(5).fill("0".repeat(64))].join(".")}` },
    ];
    const ways = [
      ["GET", PROCESSES, undefined],
      ["GET", "/metrics", undefined],
      ["GET", "/openapi.json", undefined],
      ["GET", "/api/v1/events", undefined],
      ["POST", `${PROCESSES}/app/restart`, undefined],
      ["POST", "/mcp", mcp],
      ["POST", "/ipc", { action: "restart", payload: "app" }],
    ] as const;
    for (const headers of guesses) {
      for (const [method, path, body] of ways) {
        const { status } = await within(5000, path, scene.ask("", method, path, body, headers));
        holds(status === 401 || status === 429, `${method} ${path} gives ${status}`);
      }
      const told = await feed(scene, headers);
      holds(!told.includes("process_list"), "/ws sends the list");
    }
    holds(await scene.appPid() === pid, "the app was restarted");
    return `${guesses.length} guesses × ${ways.length + 1} ways: nothing opens`;
  },

  async "another user takes the port, records what the tab sends, and uses it afterwards"(scene) {
    const { web, daemon } = scene;
    const tab = await session(scene);
    const pid = await scene.appPid();
    const stop = `${PROCESSES}/app/stop`;
    const pass = await (await tab.fetch("/api/v1/session/pass", {
      ...{ method: "POST", body: JSON.stringify({ for: "reload" }) },
    })).json();
    const { url: link } = await daemon.client.call("web_link");
    // The daemon is killed. What the tab sends meanwhile is recorded by the other user's program.
    await daemon.kill();
    const recorded = [
      ["POST", stop, await tab.authorization("POST", stop)],
      ["GET", PROCESSES, await tab.authorization("GET", PROCESSES)],
      ["GET", "/ws", await tab.authorization("GET", "/ws")],
    ] as const;
    const script = 'use IO::Socket::INET; $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", ' +
      `LocalPort => ${web.port}, Listen => 5, ReuseAddr => 1); print $s ? "taken" : "refused: $!"`;
    const taken = await scene.as(BOB, `perl -e '${script}'`);
    holds(taken.text === "refused: Address already in use", `he tries the port: ${taken.text}`);
    await daemon.run();
    await waitFor(() => scene.ask("", "GET", "/livez").then(() => true, () => false));
    for (const [method, path, authorization] of recorded) {
      for (const as of [path, stop]) {
        const { status } = await scene.ask("", method, as, undefined, { authorization });
        holds([400, 401, 404, 405].includes(status), `${method} ${as} gives ${status}`);
      }
    }
    const key = tab.id.replace(/.$/, (digit) => digit === "0" ? "1" : "0");
    for (const code of [pass.code, /code=([0-9a-f]+)/.exec(link)![1], tab.id]) {
      const { status } = await scene.ask("", "POST", "/api/v1/session", { code, key: tab.id });
      const { status: other } = await scene.ask("", "POST", "/api/v1/session", { code, key });
      holds(status !== 201 && other !== 201, "a code from before opens a session");
    }
    holds(await scene.appPid() === pid, "the app was stopped");
    tab.proof = (await scene.ask("", "GET", tab.proofPath())).body;
    holds((await tab.fetch(PROCESSES)).status === 200, "the tab itself is signed out");
    return "the port is kept; nothing recorded opens anything";
  },

  async "another site, or a rebound name, with what a tab signed"(scene) {
    const tab = await session(scene);
    const own = `127.0.0.1:${scene.web.port}`;
    const pages: Record<string, string>[] = [
      { host: "evil.example" },
      { host: own, origin: "http://evil.example" },
      { host: own, origin: "http://127.0.0.1:1" },
      { host: own, origin: "null" },
      { host: own, "sec-fetch-site": "cross-site" },
      { host: own, "sec-fetch-site": "same-site" },
      { host: `${own}@evil.example` },
      { host: "127.0.0.1.evil.example" },
    ];
    for (const page of pages) {
      for (const line of [`GET ${PROCESSES}`, `POST ${PROCESSES}/app/stop`]) {
        const [method, path] = line.split(" ") as [string, string];
        const authorization = await tab.authorization(method, path);
        const all = Object.entries({ authorization, ...page })
          .map(([name, value]) => `${name}: ${value}\r\n`).join("");
        const answer = await scene.web.raw(
          `${line} HTTP/1.1\r\n${all}Content-Length: 0\r\nConnection: close\r\n\r\n`,
        );
        const shown = `${line} as ${JSON.stringify(page)}: ${answer.split("\r\n")[0]}`;
        holds(/^HTTP\/1.1 (400|403)/.test(answer), shown);
      }
      const told = await feed(scene, page);
      holds(!told.includes(" 101 "), `/ws as ${JSON.stringify(page)}`);
    }
    return `${pages.length} pages × 3: refused`;
  },

  async "a sign-in link is used twice, or guessed"(scene) {
    const { url } = await scene.daemon.client.call("web_link");
    const code = /code=([0-9a-f]+)/.exec(url)![1];
    const { id: key } = await session(scene);
    const signInBy = (code: unknown) => scene.ask("", "POST", "/api/v1/session", { code, key });
    const first = await signInBy(code);
    if (first.status >= 300) throw new Error(`the link does not work once: ${first.status}`);
    const statuses = new Set<number>();
    for (let i = 0; i < 30; i++) statuses.add((await signInBy(i === 0 ? code : `${i}`)).status);
    holds(
      ![200, 201].some((one) => statuses.has(one)) && statuses.has(429),
      `gives ${[...statuses].join(", ")}`,
    );
    const { status } = await scene.ask(scene.web.token, "GET", PROCESSES);
    holds(status === 200, `the owner's token gives ${status} meanwhile`);
    return "once; guesses end in 429, the owner is let in";
  },

  async "an app prints HTML and scripts"(scene) {
    await scene.daemon.startScript("mine", "echo '<script>alert(1)</script>'; exec sleep 1000");
    for (const path of [`${PROCESSES}/mine/logs`, "/api/v1/logs?target=mine", "/"]) {
      const { headers } = await scene.ask(scene.web.token, "GET", path);
      const [type, sniff, policy] = [
        "content-type",
        "x-content-type-options",
        "content-security-policy",
      ]
        .map((name) => headers.get(name) ?? "");
      holds(sniff === "nosniff", `${path}: no nosniff`);
      const isSafe = !type!.includes("html") || policy!.includes("default-src") &&
          !/script-src[^;]*unsafe-inline/.test(policy!);
      holds(isSafe, `${path}: ${type} with policy "${policy}"`);
    }
    return "no type or policy lets it run";
  },
};
