/** Attacks by low-role tokens, and by users without one, over MCP, REST, the socket and WebSockets. */

import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { VERBS } from "../../../src/verbs/mod.ts";
import { unixRequest } from "../../../src/protocol/unix_http.ts";
import { type Attack, BOB, brief, holds, type Scene } from "./scene.ts";

const VERSIONS = [undefined, ...SUPPORTED_PROTOCOL_VERSIONS, "2026-07-28", "1999-01-01"];
/** Routes that a token of role `operate` may call, beyond reading. */
const OPERATES = /\/(start|stop|restart|reload|rolling_reload|scale|signal|flush|run|save|send)$/;

/** Routes that only read, but take a body. */
const READS_BY_POST = /^\/api\/v1\/(logs|session\/pass)$/;
/** Routes that need no token: they tell nothing, and a tab must ask whom it speaks to. */
const OPEN = /\/(livez|ping|session\/proof)$/;

/** Calls a tool as a given version of the protocol prescribes. */
function callTool(scene: Scene, token: string, version: string | undefined, name: string) {
  const isModern = version !== undefined && version >= "2026";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "attack", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const args = name === "start_app"
    ? { name: "evil", entrypoint: "/usr/bin/touch", args: [`${scene.path}/evil`], cwd: "/" }
    : { target: "app" };
  const params = { name, arguments: args, ...(isModern ? { _meta: meta } : {}) };
  return scene.ask(token, "POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, {
    accept: "application/json, text/event-stream",
    ...(version === undefined ? {} : { "mcp-protocol-version": version }),
    ...(isModern ? { "mcp-method": "tools/call", "mcp-name": name } : {}),
  });
}

/** Every operation of the OpenAPI document, with its path parameters filled in. */
async function operations(scene: Scene): Promise<(readonly [method: string, path: string])[]> {
  const { body } = await scene.ask(scene.web.token, "GET", "/openapi.json");
  return Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).filter((key) => /^(get|post|put|patch|delete)$/.test(key)).map((method) =>
      [method.toUpperCase(), path.replace(/\{[^}]*\}/g, "app")] as const
    )
  ).filter(([, path]) => !path.endsWith("/session"));
}

/** Requests a verb over the Unix socket. Returns the HTTP status. */
async function onSocket(scene: Scene, token: string | undefined, verb: string): Promise<number> {
  const body = JSON.stringify({ action: verb, payload: verb === "list" ? undefined : "app" });
  const response = await unixRequest(`${scene.daemon.home}/procsup.sock`, {
    ...{ method: "POST", path: "/ipc", body, token: () => token },
  });
  await response.text();
  return response.status;
}

/** Requests a verb of the web listener. Returns the HTTP status. */
async function onWeb(scene: Scene, token: string | undefined, verb: string): Promise<number> {
  const body = { action: verb, payload: verb === "list" ? undefined : "app" };
  return (await scene.ask(token ?? "", "POST", "/ipc", body)).status;
}

async function unharmed(scene: Scene, pid: number, seen: string): Promise<void> {
  holds(await scene.appPid() === pid, `the app was stopped or restarted: ${seen}`);
}

export const roles: Readonly<Record<string, Attack>> = {
  async "a read token calls tools over /mcp in every protocol version"(scene) {
    const [token, pid] = [await scene.token("read"), await scene.appPid()];
    const names = ["start_app", "stop_app", "restart_app", "delete_app", "save_state"];
    for (const version of VERSIONS) {
      for (const name of names) {
        const { text } = await callTool(scene, token, version, name);
        const apps = await scene.daemon.client.call("list");
        holds(apps.length === 1, `${version ?? "no version"}: ${name} ran: ${brief(text)}`);
        await unharmed(scene, pid, `${name}, ${version}`);
      }
    }
    return `${VERSIONS.length} versions × ${names.length} tools: all refused`;
  },

  async "tokens of low roles try every route"(scene) {
    const pid = await scene.appPid();
    const all = await operations(scene);
    let refused = 0;
    for (const role of ["read", "operate"] as const) {
      const token = await scene.token(role);
      for (const [method, path] of all) {
        const mayAsk = method === "GET" || READS_BY_POST.test(path) ||
          role === "operate" && OPERATES.test(path);
        if (mayAsk) continue;
        // The role decides before the body is looked at.
        for (const body of [{}, "{", `{"a":"${"x".repeat(2 ** 20)}"}`]) {
          const { status } = await scene.ask(token, method, path, body);
          holds(status === 403, `${role}: ${method} ${path} gives ${status}`);
          refused++;
        }
      }
      await unharmed(scene, pid, role);
    }
    return `${refused} requests: all 403`;
  },

  async "no token, and a wrong one, on every route"(scene) {
    const all = [...await operations(scene), ["POST", "/mcp"], ["GET", "/openapi.json"]] as const;
    for (const token of ["", "ps_0000"]) {
      for (const [method, path] of all.filter(([, path]) => !OPEN.test(path))) {
        const { status } = await scene.ask(token, method, path, method === "GET" ? undefined : {});
        holds([401, 429].includes(status), `${method} ${path} gives ${status}`);
      }
    }
    return `${all.length} routes × 2: all 401 or 429`;
  },

  async "a read token sends envelopes to the Unix socket and to the web listener"(scene) {
    const [token, pid] = [await scene.token("read"), await scene.appPid()];
    const reads = new Set(
      "list status why history releases metrics_history wait logs search_logs log_counts events alerts cron_list webhook_list ports system_metrics system_info ping"
        .split(" "),
    );
    for (const verb of Object.keys(VERBS).filter((name) => !reads.has(name))) {
      for (const send of [onSocket, onWeb]) {
        const status = await send(scene, token, verb);
        holds(status === 403, `${verb} gives ${status}`);
      }
    }
    for (const wrong of [undefined, "ps_0000"]) {
      for (const send of [onSocket, onWeb]) {
        const status = await send(scene, wrong, "list");
        holds([401, 429].includes(status), `list with ${wrong ?? "no"} token gives ${status}`);
      }
    }
    const local = Object.entries(VERBS).filter(([, verb]) => !("rest" in verb));
    for (const [verb] of local) {
      const status = await onWeb(scene, scene.web.token, verb);
      holds(status === 403, `the owner: ${verb} over the network gives ${status}`);
    }
    await unharmed(scene, pid, "by an envelope");
    return `${
      Object.keys(VERBS).length - reads.size
    } verbs × 2, ${local.length} of the owner: all 403`;
  },

  async "another user opens the home, the token and the socket"(scene) {
    const { home } = scene.daemon;
    const connect = "use IO::Socket::UNIX; exit(IO::Socket::UNIX->new(Peer=>$ARGV[0])?0:1)";
    for (
      const script of [
        `ls ${home}`,
        `cat ${home}/token`,
        `cat ${home}/apps/app/stdout.log`,
        `perl -e '${connect}' ${home}/procsup.sock`,
      ]
    ) holds((await scene.as(BOB, script)).code !== 0, `bob ran: ${script}`);
    return "not listed, not read, not connected";
  },

  async "a read token sends commands over a WebSocket"(scene) {
    const [token, pid] = [await scene.token("read"), await scene.appPid()];
    const socket = new WebSocket(`${scene.web.url.replace("http", "ws")}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await new Promise((resolve) => socket.onopen = resolve);
    const answered = new Promise<void>((resolve) => {
      socket.onmessage = ({ data }) => data.includes('"pong"') && resolve();
    });
    for (const type of ["stop", "restart", "delete", "start", "shutdown"]) {
      socket.send(JSON.stringify({ type, action: type, target: "app", payload: "app" }));
    }
    socket.send('{"type":"ping"}');
    await answered;
    socket.close();
    await unharmed(scene, pid, "over a WebSocket");
    return "5 commands: no effect";
  },

  async "an empty list of allowed tools allows all of them"(scene) {
    for (const allow of [",", "", " , "]) {
      const { code, stderr } = await scene.daemon.cli("mcp", "--allow", allow);
      holds(code === 2, `procsup mcp --allow "${allow}" ends with ${code}: ${brief(stderr)}`);
    }
    return "refused";
  },
};
