/** Roles of named tokens over the Unix socket, and what a revocation closes. */

import { assert, assertEquals } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { signIn, TestSession, TestWeb } from "../support/web.ts";

/** The minimum role for each verb; every other one needs admin. */
const ALLOWED: readonly (readonly [string, unknown, "read" | "operate" | "admin"])[] = [
  ["list", undefined, "read"],
  ["status", "app", "read"],
  ["logs", { target: "app" }, "read"],
  ["history", "app", "read"],
  ["releases", "app", "read"],
  ["alerts", undefined, "read"],
  ["cron_list", undefined, "read"],
  ["webhook_list", undefined, "read"],
  ["restart", "app", "operate"],
  ["start", { target: "app" }, "operate"],
  ["start", "app", "operate"],
  ["rolling_reload", { target: "app" }, "operate"],
  ["stop", { target: "app", force: true }, "operate"],
  ["reconfigure", { target: "app", config: { tags: ["x"] } }, "admin"],
  ["start", { name: "new", entrypoint: "/bin/true", cwd: "/" }, "admin"],
  ["webhook_test", undefined, "admin"],
  ["token", undefined, "admin"],
  ["token_list", undefined, "admin"],
];
const ROLES = ["read", "operate", "admin"] as const;

const web = TestWeb.ofFile();

/** Every stream of the Unix socket. */
const UNIX_STREAMS: readonly (readonly [string, RequestInit?])[] = [
  ["/events"],
  ["/logs?target=app&follow=true"],
  ["/logs?target=app&follow=true", { method: "POST", body: `{"from":{}}` }],
  ["/attach?target=app"],
];

Deno.test("a named token can do through /ipc what its role permits, and nothing else", async () => {
  await web.daemon.startScript("app", "exec sleep 1000", { min_uptime: "10ms" });
  const ask = unixAsk(web);
  for (const role of ROLES) {
    const { token } = await web.daemon.client.call("token_create", { name: `t-${role}`, role });
    for (const [action, payload, needed] of ALLOWED) {
      const may = ROLES.indexOf(role) >= ROLES.indexOf(needed);
      const { status, text } = await ask("/ipc", { action, payload }, token);
      const { success, code } = JSON.parse(text);
      // Other failures, such as an existing process or one that is down, are not about roles.
      const refused = status === 403 && code === "forbidden" && !success;
      assertEquals(refused, !may, `${role} ${action} ${text.slice(0, 200)}`);
    }
    assertEquals((await ask("/ipc", { action: "lits" }, token)).status, 400);
    const streams = UNIX_STREAMS.map((asked) => unixStream(web, token, ...asked));
    await waitFor(() => streams.every(({ code }) => code !== undefined));
    // A terminal shows what others type.
    assertEquals(streams.map(({ code }) => code), [200, 200, 200, role === "read" ? 403 : 200]);
    for (const { close } of streams) close();
  }
  assertEquals((await ask("/ipc", { action: "list" }, "wrong")).status, 401);
  assertEquals((await ask("/ipc", { action: "ping" }, "")).status, 200);
});

Deno.test("a link that an operator requests signs in as an operator", async () => {
  const { token } = await web.daemon.client.call("token_create", { name: "boss", role: "admin" });
  const { text } = await unixAsk(web)("/ipc", { action: "web_link" }, token);
  const { url } = JSON.parse(text).data;
  const session = await signIn(web.url, { link: url });
  const who = await (await session.fetch("/api/v1/session")).json();
  assertEquals(who, { name: "boss", role: "admin", via: "session" });
  await web.daemon.client.call("token_revoke", { name: "boss" });
  assertEquals((await (await session.fetch("/api/v1/session")).json()).code, "unauthorized");
});

Deno.test("revoking a token closes at once everything opened by it and its sessions, and nothing else", async () => {
  await web.daemon.startScript("app", "while :; do echo x; sleep 0.05; done");
  const { token } = await web.daemon.client.call("token_create", { name: "ci", role: "operate" });
  const { token: other } = await web.daemon.client.call("token_create", { name: "other" });
  const session = await signIn(web.url, { token });
  const ours = await openAll(web, { authorization: `Bearer ${token}` });
  const sessions = await openAll(web, session);
  const theirs = await openAll(web, { authorization: `Bearer ${other}` });
  const sockets = UNIX_STREAMS.map((asked) => unixStream(web, token, ...asked));
  await waitFor(() => sockets.every(({ open }) => open), { what: "all to be open" });
  await web.daemon.client.call("token_revoke", { name: "ci" });
  await waitFor(() => [...ours, ...sessions, ...sockets].every(({ open }) => !open), {
    what: "all that was open by the token to end",
  });
  assertEquals(ours[0]!.code, 1008);
  assertEquals(sessions[0]!.code, 1008);
  const reasons = [...ours.slice(1), ...sockets, ...sessions.slice(1)].map(({ last }) =>
    JSON.parse(last!)
  );
  assertEquals(reasons, [
    ...Array(6).fill({ error: "The token was revoked", code: "unauthorized" }),
    ...Array(2).fill({ error: "The session has ended", code: "unauthorized" }),
  ]);
  const count = theirs.map(({ got }) => got);
  await waitFor(() => theirs.slice(0, 2).every(({ got }, i) => got > count[i]!));
  assert(theirs.every(({ open }) => open));
  const bearer = { authorization: `Bearer ${token}` };
  assertEquals((await web.ask("GET", "/api/v1/processes", undefined, bearer)).status, 401);
  assertEquals((await (await session.fetch("/api/v1/processes")).json()).code, "unauthorized");
  theirs.forEach((stream) => stream.close());
});

Deno.test("a new daemon token, or signing out, closes what the old ones opened", async () => {
  await web.daemon.startScript("app", "while :; do echo x; sleep 0.05; done");
  const session = await signIn(web.url, { token: web.token });
  const signedIn = await openAll(web, session);
  const ours = await openAll(web, { authorization: `Bearer ${web.token}` });
  const out = await session.fetch("/api/v1/session", { method: "DELETE" });
  assertEquals((await out.json()).status, "signed_out");
  await waitFor(() => signedIn.every(({ open }) => !open));
  assert(ours.every(({ open }) => open));
  await web.daemon.client.call("token", { rotate: true });
  await waitFor(() => ours.every(({ open }) => !open));
});

/** An open stream. */
interface Open {
  open: boolean;
  /** Messages or chunks so far. */
  got: number;
  /** Why a WebSocket was closed, or the status of a stream. */
  code?: number;
  /** The last line of a stream. */
  last?: string;
  close(): void;
}

/** A WebSocket and the streams of REST, each of which has begun. */
async function openAll(
  web: TestWeb,
  sender: Record<string, string> | TestSession,
): Promise<Open[]> {
  const get = (path: string) =>
    sender instanceof TestSession
      ? sender.fetch(path)
      : fetch(`${web.url}${path}`, { headers: sender });
  const all = [
    webSocket(web, sender),
    stream(get("/api/v1/logs?target=app&follow=true")),
    stream(get("/api/v1/events")),
  ];
  await waitFor(() => all.every(({ open }) => open) && all[1]!.got > 0, { what: "all to be open" });
  return all;
}

function webSocket(web: TestWeb, sender: Record<string, string> | TestSession): Open {
  const session = sender instanceof TestSession ? sender : undefined;
  const headers = session === undefined ? sender as Record<string, string> : { origin: web.url };
  const socket = new WebSocket(`${web.url.replace("http", "ws")}/ws`, { headers });
  const state: Open = { open: false, got: 0, close: () => socket.close() };
  socket.onopen = async () => {
    state.open = true;
    const authorization = await session?.authorization("GET", "/ws");
    if (session !== undefined) socket.send(JSON.stringify({ type: "session", authorization }));
    socket.send(JSON.stringify({ type: "subscribe", topics: ["logs"], target: "app" }));
  };
  socket.onmessage = () => state.got++;
  socket.onclose = ({ code }) => {
    state.open = false;
    state.code = code;
  };
  return state;
}

function stream(asked: Promise<Response>): Open {
  const over = new AbortController();
  const state: Open = { open: false, got: 0, close: () => over.abort() };
  const run = async () => {
    const response = await asked;
    state.open = response.ok;
    state.code = response.status;
    over.signal.addEventListener("abort", () => void response.body!.cancel().catch(() => {}));
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      state.got++;
      state.last = text.trimEnd().split("\n").at(-1)!;
    }
  };
  void run().catch(() => {}).finally(() => state.open = false);
  return state;
}

function unixClient(web: TestWeb): Deno.HttpClient {
  return Deno.createHttpClient({
    proxy: { transport: "unix", path: `${web.daemon.home}/procsup.sock` },
  });
}

function unixStream(web: TestWeb, token: string, path: string, init?: RequestInit): Open {
  const client = unixClient(web);
  const headers = { authorization: `Bearer ${token}` };
  const asked = fetch(`http://procsup${path}`, { client, headers, ...init });
  return stream(asked.finally(() => client.close()));
}

function unixAsk(web: TestWeb) {
  return async (path: string, body: unknown, token: string) => {
    using client = unixClient(web);
    const response = await fetch(`http://procsup${path}`, {
      ...{ client, method: "POST", body: JSON.stringify(body) ?? "" },
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    return { status: response.status, text: await response.text() };
  };
}

/** Without a token, which is added to requests by default. */
