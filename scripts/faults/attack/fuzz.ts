/**
 * Sends REST, MCP and the Unix socket requests that their own schemas allow, or nearly allow. None may
 * cause a status of 500, hang, end the daemon, or touch an app that it does not name.
 * `--seed N` replays a run, `--count N` makes it longer.
 */

import { VERBS } from "../../../src/verbs/mod.ts";
import { unixRequest } from "../../../src/protocol/unix_http.ts";
import { Random } from "../chaos/random.ts";
import { RandomValues, type Schema } from "./random_values.ts";
import { type Attack, holds, type Scene } from "./scene.ts";

const COUNT = Number(Deno.env.get("ATTACK_COUNT") ?? 400);
const SEED = Number(Deno.env.get("ATTACK_SEED") ?? Math.floor(Math.random() * 1e9));
/** Number of parallel requests, and the time limit of each. */
const [AT_ONCE, LIMIT_MS] = [4, 20_000];
/** Verbs that end the daemon or its listener by design. */
const LEFT_OUT = new Set(["shutdown", "release", "web_stop", "web_start", "token"]);

/** Opens a connection per request: a pooled one may be closed at the moment it is used again. */
const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });

interface Answer {
  readonly status: number | string;
  readonly text: string;
}

type Ask = (values: RandomValues) => { readonly what: string; readonly answer: Promise<Answer> };

/** Sends `COUNT` requests. Returns the number of answers for each status. */
async function fuzzed(scene: Scene, ask: Ask): Promise<string> {
  for (const name of ["fuzz0", "fuzz1", "fuzz2"]) {
    await scene.daemon.startScript(name, "echo up; exec sleep 1000");
  }
  const [pid, daemon, before] = [await scene.appPid(), scene.daemon.pid, scene.memory()];
  const counts = new Map<number | string, number>();
  let asked = 0;
  const worker = async () => {
    while (asked < COUNT) {
      // Each request has its own seed, independent of the other workers.
      const { what, answer } = ask(
        new RandomValues(new Random(Math.imul(SEED, 0x9e3779b1) + asked++)),
      );
      const { status, text } = await answer.catch((error) => ({
        status: "error",
        text: `${error} ${String(error.cause ?? "").slice(-160)}`,
      }));
      const shown = `seed ${SEED}: ${what.slice(0, 150)}: ${status} ${text.slice(0, 400)}`;
      holds(!["error", 500, 502, "internal"].includes(status), shown);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await scene.daemon.client.call("ping");
  holds(
    scene.daemon.pid === daemon && await scene.appPid() === pid,
    `seed ${SEED}: app was touched`,
  );
  const grown = scene.memory() - before;
  holds(grown < 200, `seed ${SEED}: memory +${grown} MiB`);
  const sorted = [...counts].sort(([a], [b]) => String(a) < String(b) ? -1 : 1);
  const shown = sorted.map(([status, count]) => `${count} × ${status}`).join(", ");
  return `seed ${SEED}, ${COUNT} requests: ${shown}; memory +${grown} MiB`;
}

/** Sends a request over the web. Does not read streams. */
async function fetched(url: string, init: RequestInit): Promise<Answer> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const response = await fetch(url, { ...init, client, signal });
  const isStream = /ndjson|event-stream/.test(response.headers.get("content-type") ?? "");
  const text = isStream ? "" : await response.text();
  if (isStream) await response.body?.cancel();
  return { status: response.status, text };
}

async function document(scene: Scene): Promise<Schema> {
  return (await scene.ask(scene.web.token, "GET", "/openapi.json")).body;
}

/** Sends a random request of the OpenAPI document. */
function restRequest(scene: Scene, paths: Schema, values: RandomValues): ReturnType<Ask> {
  const [path, methods] = values.random.pick(Object.entries<Schema>(paths));
  const [method, operation] = values.random.pick(Object.entries<Schema>(methods));
  const url = new URL(
    scene.web.url + path.replace(/\{[^}]*\}/g, () => encodeURIComponent(values.target())),
  );
  for (const { name, in: place, schema } of operation.parameters ?? []) {
    if (place !== "query" || values.random.chance(0.5)) continue;
    const value = values.of(schema, name);
    url.searchParams.set(name, typeof value === "string" ? value : JSON.stringify(value) ?? "");
  }
  // Waiting for a state of an app without a timeout may take forever.
  if (path.endsWith("/wait")) url.searchParams.set("timeout", "50ms");
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  const body = schema === undefined ? undefined : values.text(schema, "body");
  const headers = {
    authorization: `Bearer ${scene.web.token}`,
    "content-type": "application/json",
  };
  const init = { method: method.toUpperCase(), headers, ...(body === undefined ? {} : { body }) };
  return {
    what: `${init.method} ${url.pathname}${url.search} ${body?.slice(0, 300) ?? ""}`,
    answer: fetched(url.href, init),
  };
}

/** Calls a random tool, or sends something similar. */
function mcpRequest(scene: Scene, tools: readonly Schema[], values: RandomValues): ReturnType<Ask> {
  const { name, inputSchema } = values.random.pick(tools);
  const method = values.random.chance(0.8) ? "tools/call" : values.odd();
  const given = values.of(inputSchema, "arguments");
  // Waiting for a state takes 50 s unless the request says less.
  const args = name === "wait_for" ? { ...Object(given), timeout: "50ms" } : given;
  const message = { ...{ jsonrpc: "2.0", id: 1, method }, params: { name, arguments: args } };
  const text = JSON.stringify(message) ?? "null";
  const body = values.random.chance(0.1)
    ? text.slice(0, values.random.whole(0, text.length))
    : text;
  const headers = {
    ...{ authorization: `Bearer ${scene.web.token}`, "content-type": "application/json" },
    accept: "application/json, text/event-stream",
  };
  const answered = async (): Promise<Answer> => {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const response = await fetch(`${scene.web.url}/mcp`, {
      method: "POST",
      headers,
      body,
      client,
      signal,
    });
    const text = await response.text();
    const code = /"code\\?":\s*\\?"?(internal|-32603)/.exec(text)?.[1];
    return {
      status: code === undefined ? response.status : "internal",
      text: code ? text.slice(-300) : text,
    };
  };
  return { what: body.slice(0, 300), answer: answered() };
}

/**
 * Sends a random envelope to the Unix socket or the web listener, with payloads of REST and fields of
 * other verbs.
 */
function socketRequest(scene: Scene, schemas: Schema, values: RandomValues): ReturnType<Ask> {
  const { random } = values;
  const known = Object.keys(VERBS).filter((name) => !LEFT_OUT.has(name));
  const verb = random.chance(0.95) ? random.pick(known) : values.odd();
  const schema = verb === "start" ? schemas.ProcessConfig : random.pick(Object.values(schemas));
  const fields = { target: values.target(), name: values.target(), timeout: "50ms" };
  const payload = random.chance(0.3)
    ? values.odd()
    : { ...(verb === "start" ? {} : fields), ...values.of(schema, "payload") as object };
  const body = JSON.stringify({ action: verb, payload });
  const isWeb = random.chance(0.5);
  const answered = async (): Promise<Answer> => {
    const { token } = scene.web;
    if (isWeb) return await scene.ask(token, "POST", "/ipc", body);
    const response = await unixRequest(`${scene.daemon.home}/procsup.sock`, {
      ...{ method: "POST", path: "/ipc", body, token: () => token },
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const text = await response.text();
    JSON.parse(text);
    return { status: response.status, text };
  };
  return { what: body.slice(0, 300), answer: answered() };
}

export const fuzz: Readonly<Record<string, Attack>> = {
  async "fuzz: REST, from its OpenAPI document"(scene) {
    const { paths, components } = await document(scene);
    const schemas = components.schemas;
    return await fuzzed(scene, (values) => restRequest(scene, paths, values.with(schemas)));
  },

  async "fuzz: MCP, from the schemas of its tools"(scene) {
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const accept = { accept: "application/json, text/event-stream" };
    const { text } = await scene.ask(scene.web.token, "POST", "/mcp", list, accept);
    const { tools } = JSON.parse(text.slice(text.indexOf("{"))).result;
    return await fuzzed(scene, (values) => mcpRequest(scene, tools, values));
  },

  async "fuzz: verbs on the Unix socket and the web listener"(scene) {
    const { components: { schemas } } = await document(scene);
    return await fuzzed(scene, (values) => socketRequest(scene, schemas, values.with(schemas)));
  },
};
