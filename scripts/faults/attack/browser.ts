/** Attacks with a session by other web pages, or by other programs on ports of this machine. */

import { signIn, upgradeRequest } from "../../../tests/support/web.ts";
import { type Attack, holds, type Scene, within } from "./scene.ts";

const PROCESSES = "/api/v1/processes";

function session(scene: Scene): Promise<Record<string, string>> {
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
  async "the session's cookie alone, which every port of 127.0.0.1 gets"(scene) {
    const { cookie } = await session(scene);
    const pid = await scene.appPid();
    const mcp = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    for (
      const [method, path, body] of [
        ["GET", PROCESSES, undefined],
        ["GET", "/metrics", undefined],
        ["GET", "/openapi.json", undefined],
        ["GET", "/api/v1/events", undefined],
        ["POST", `${PROCESSES}/app/restart`, undefined],
        ["POST", "/mcp", mcp],
      ] as const
    ) {
      const { status } = await within(
        5000,
        path,
        scene.ask("", method, path, body, { cookie: cookie! }),
      );
      holds(status === 401, `${method} ${path} gives ${status}`);
    }
    const told = await feed(scene, { cookie: cookie! });
    holds(!told.includes("process_list"), "/ws sends the list");
    holds(await scene.appPid() === pid, "the app was restarted");
    return "7 ways: nothing opens";
  },

  async "another site, or a rebound name, with cookie and secret"(scene) {
    const headers = await session(scene);
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
      const all = Object.entries({ ...headers, ...page }).map(([k, v]) => `${k}: ${v}\r\n`).join(
        "",
      );
      for (const line of [`GET ${PROCESSES}`, `POST ${PROCESSES}/app/stop`]) {
        const answer = await scene.web.raw(
          `${line} HTTP/1.1\r\n${all}Content-Length: 0\r\nConnection: close\r\n\r\n`,
        );
        const shown = `${line} as ${JSON.stringify(page)}: ${answer.split("\r\n")[0]}`;
        holds(/^HTTP\/1.1 (400|403)/.test(answer), shown);
      }
      const told = await feed(scene, { ...headers, ...page });
      holds(!told.includes(" 101 "), `/ws as ${JSON.stringify(page)}`);
    }
    return `${pages.length} pages × 3: refused`;
  },

  async "a sign-in link is used twice, or guessed"(scene) {
    const { url } = await scene.daemon.client.call("web_link");
    const code = /code=([0-9a-f]+)/.exec(url)![1];
    const signInBy = (code: unknown) => scene.ask("", "POST", "/api/v1/session", { code });
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
