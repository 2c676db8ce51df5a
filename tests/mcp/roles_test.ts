/** Roles over `/mcp`: every tool and resource, in every version of the protocol. */

import { assertEquals } from "@std/assert";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { TOOL_NAMES } from "../../src/mcp/tool_names.ts";
import type { Role } from "../../src/verbs/verb.ts";
import { fakeProcess } from "../cli/fake_daemon.ts";
import { done, FakeWeb } from "../web/fake_backend.ts";

/** A client without a version counts as one of 2025. */
const VERSIONS = [
  undefined,
  ...SUPPORTED_PROTOCOL_VERSIONS,
  "2026-07-28",
  "1999-01-01",
  "9999-12-31",
];

const READS: readonly string[] = [
  ...["list_apps", "get_status", "get_logs", "get_events", "search_logs"],
  ...["list_jobs", "wait_for", "get_metrics", "list_releases", "list_alerts"],
];

const OPERATES: readonly string[] = [
  ...["stop_app", "restart_app", "reload_app", "save_state", "scale_app", "run_job"],
];

/** In the order of `TOOL_NAMES`. */
const TOOLS_OF: Readonly<Record<Role, readonly string[]>> = {
  read: TOOL_NAMES.filter((name) => READS.includes(name)),
  operate: TOOL_NAMES.filter((name) => READS.includes(name) || OPERATES.includes(name)),
  admin: TOOL_NAMES,
};

const ACTION_OF: Readonly<Record<string, string>> = {
  list_apps: "list",
  get_status: "why",
  list_releases: "releases",
  get_metrics: "metrics_history",
  get_events: "events",
  search_logs: "search_logs",
  wait_for: "wait",
  list_alerts: "alerts",
  list_jobs: "cron_list",
  run_job: "cron_run",
  scale_app: "scale",
  update_app: "reconfigure",
  apply_config: "config_reload",
  get_logs: "logs",
  start_app: "add",
  stop_app: "stop",
  restart_app: "restart",
  reload_app: "reload",
  delete_app: "delete",
  save_state: "save",
  resurrect_processes: "resurrect",
};

const URIS = ["apps://list", "apps://api", "metrics://api", "logs://api"];

interface Asking {
  readonly token: string;
  readonly version: string | undefined;
}

/**
 * Sends one message, or several at once, in the format of a version. Returns the answer as text.
 */
async function send(web: FakeWeb, { token, version }: Asking, ...requests: Rpc[]): Promise<string> {
  const isModern = version !== undefined && version >= "2026";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const messages = requests.map(({ method, params }, id) => ({
    ...{ jsonrpc: "2.0", id, method },
    params: isModern ? { ...params, _meta: meta } : params,
  }));
  const { method, params } = requests[0]!;
  const { body } = await web.ask("POST", "/mcp", {
    token,
    body: messages.length === 1 ? messages[0] : messages,
    headers: {
      accept: "application/json, text/event-stream",
      ...(version === undefined ? {} : { "mcp-protocol-version": version }),
      ...(isModern ? { "mcp-method": method, "mcp-name": params.name ?? params.uri ?? "" } : {}),
    },
  });
  return typeof body === "string" ? body : JSON.stringify(body);
}

interface Rpc {
  readonly method: string;
  readonly params: { readonly name?: string; readonly uri?: string; readonly arguments?: unknown };
}

function call(name: string): Rpc {
  const args = {
    start_app: { entrypoint: "/bin/true" },
    list_apps: {},
    save_state: {},
    resurrect_processes: {},
    get_events: {},
    search_logs: {},
    list_alerts: {},
    list_jobs: {},
    scale_app: { target: "api", instances: 2 },
    update_app: { target: "api", config: { env: { A: "b" } } },
    apply_config: { file: "/x.yaml", plan: false },
  }[name as string] ?? { target: "api" };
  return { method: "tools/call", params: { name, arguments: args } };
}

const ANSWERS = {
  status: () => fakeProcess(),
  logs: () => ({ logs: "a line\n", path: "/x", lines: "50" }),
  save: () => ({}),
  why: () => ({ process: fakeProcess(), reasons: [], last_output: [], hints: [] }),
  events: () => ({ events: [], truncated: false }),
  search_logs: () => ({ lines: [], truncated: false }),
  wait: () => [fakeProcess()],
  alerts: () => [],
  cron_list: () => [],
  metrics_history: () => ({ since: "", until: "", step: 1e9, series: [] }),
  cron_run: () => ({ status: "running", name: "api" }),
  config_reload: () => ({ ...done("reloaded"), errors: [] }),
  resurrect: () => ({ errors: [] }),
};

for (const role of ["read", "operate", "admin"] as const) {
  Deno.test(`/mcp allows the role ${role} exactly what it permits, in every version`, async () => {
    await using web = new FakeWeb(ANSWERS);
    const { token } = await web.tokens.create("agent", { role });
    const mayAct = new Set(TOOLS_OF[role].map((name) => ACTION_OF[name]!));
    for (const version of VERSIONS) {
      const asking = { token, version };
      const isKnown = version === undefined || version === "2026-07-28" ||
        SUPPORTED_PROTOCOL_VERSIONS.includes(version);
      const listed = await send(web, asking, { method: "tools/list", params: {} });
      const names = TOOL_NAMES.filter((name) => listed.includes(`"name":"${name}"`));
      assertEquals(names, isKnown ? [...TOOLS_OF[role]] : [], `${version}`);
      for (const tool of TOOL_NAMES) {
        web.calls.length = 0;
        await send(web, asking, call(tool));
        const wanted = isKnown && TOOLS_OF[role].includes(tool) ? [ACTION_OF[tool]!] : [];
        assertEquals(web.calls.map(([verb]) => verb), wanted, `${version} ${tool}`);
      }
      for (const uri of URIS) {
        const read = await send(web, asking, { method: "resources/read", params: { uri } });
        assertEquals(read.includes('"contents"'), isKnown, `${version} ${uri}: ${read}`);
      }
    }
    // Versions before 2025-06-18 have batches.
    for (const version of [undefined, "2025-03-26", "2024-11-05"]) {
      web.calls.length = 0;
      await send(web, { token, version }, ...TOOL_NAMES.map(call));
      assertEquals(new Set(web.calls.map(([verb]) => verb)), mayAct, `${version}`);
    }
  });
}
