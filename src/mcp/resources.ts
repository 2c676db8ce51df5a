/** The resources (spec 4.4): `apps://list`, `apps://{name}`, `logs://{name}` and `metrics://{name}`. */

import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessJson } from "../protocol/process_json.ts";
import type { Call } from "./call.ts";
import { safeData, safeLog, safeText, UNTRUSTED_NOTICE } from "./safe_data.ts";
import type { ToolName } from "./tool_names.ts";

/** The resource that holds all apps. */
export const LIST_URI = "apps://list";

/** The resources of one app. */
export const APP_SCHEMES = ["apps", "metrics", "logs"] as const;

type Scheme = typeof APP_SCHEMES[number];

const ABOUT: Readonly<Record<Scheme, { mimeType: string; description: string }>> = {
  apps: { mimeType: "application/json", description: "State and configuration of an app" },
  metrics: { mimeType: "application/json", description: "What an app uses" },
  logs: {
    mimeType: "text/plain",
    description: `The end of what an app wrote, 1 MiB at most. ${UNTRUSTED_NOTICE}`,
  },
};

const METRICS = [
  "name",
  "state",
  "cpu_percent",
  "memory_bytes",
  "mem_percent",
  "threads",
  "fds",
  "uptime",
  "restarts",
] as const;

/** Registers the resources that show no more than the granted tools do. */
export function registerResources(
  server: McpServer,
  call: Call,
  granted: ReadonlySet<ToolName>,
): void {
  const schemes = APP_SCHEMES.filter((scheme) =>
    granted.has(scheme === "logs" ? "get_logs" : "get_status")
  );
  if (granted.has("list_apps")) registerList(server, call);
  for (const scheme of schemes) {
    // One template lists the resources of all: a list costs one exchange with the daemon.
    const list = scheme === schemes[0] ? lister(call, schemes) : undefined;
    registerApp(server, call, scheme, list);
  }
}

function registerList(server: McpServer, call: Call): void {
  const about = { mimeType: "application/json", description: "Every supervised app" };
  server.registerResource(
    "apps",
    LIST_URI,
    { title: "All apps", ...about },
    (uri, context) =>
      answering(uri, async () => {
        const processes = await call("list", undefined, { signal: context.mcpReq.signal });
        return content(uri, about.mimeType, JSON.stringify(safeData(processes)));
      }),
  );
}

function registerApp(
  server: McpServer,
  call: Call,
  scheme: Scheme,
  list: ((context: ServerContext) => Promise<{ resources: Resource[] }>) | undefined,
): void {
  const complete = { name: (value: string) => completeName(call, value) };
  server.registerResource(
    `app-${scheme}`,
    new ResourceTemplate(`${scheme}://{name}`, { list, complete }),
    { title: `App ${scheme}`, ...ABOUT[scheme] },
    (uri, variables, context) =>
      answering(uri, () => {
        const name = String(variables.name ?? "");
        return read(call, scheme, name, uri, context.mcpReq.signal);
      }),
  );
}

async function read(
  call: Call,
  scheme: Scheme,
  name: string,
  uri: URL,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const { mimeType } = ABOUT[scheme];
  if (scheme === "logs") {
    const { logs } = await call("logs", { target: name, lines: 0 }, { signal });
    const { text, truncated } = safeLog(logs);
    const meta = { "procsup/notice": UNTRUSTED_NOTICE, "procsup/truncated": truncated };
    return content(uri, mimeType, text, meta);
  }
  const process = await call("status", name, { signal });
  const data = scheme === "apps" ? process : metricsOf(process);
  return content(uri, mimeType, JSON.stringify(safeData(data)));
}

function metricsOf(process: ProcessJson): Record<string, unknown> {
  return Object.fromEntries(METRICS.map((key) => [key, process[key]]));
}

function content(
  uri: URL,
  mimeType: string,
  text: string,
  meta?: Record<string, unknown>,
): ReadResourceResult {
  const _meta = meta === undefined ? {} : { _meta: meta };
  return { contents: [{ uri: uri.href, mimeType, text, ..._meta }] };
}

function lister(call: Call, schemes: readonly Scheme[]) {
  return (context: ServerContext): Promise<{ resources: Resource[] }> =>
    answering(undefined, async () => {
      const processes = await call("list", undefined, { signal: context.mcpReq.signal });
      const resources = processes.flatMap(({ name }) =>
        schemes.map((scheme) => ({
          uri: `${scheme}://${name}`,
          name: `${name} ${scheme}`,
          title: `${name}: ${scheme}`,
          ...ABOUT[scheme],
        }))
      );
      return { resources };
    });
}

/** Names that begin with what was typed. Completing is a help: it never fails. */
async function completeName(call: Call, value: string): Promise<string[]> {
  const processes = await call("list").catch(() => []);
  return processes.map(({ name }) => name).filter((name) => name.startsWith(value));
}

/** A failure in the words of the protocol: not found, or internal with the reason. */
async function answering<T>(uri: URL | undefined, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const code = error instanceof ProcsupError ? error.code : "internal";
    if (code === "process_not_found" && uri !== undefined) {
      throw new ResourceNotFoundError(uri.href);
    }
    const kind = code === "ambiguous_target" || code === "bad_request"
      ? ProtocolErrorCode.InvalidParams
      : ProtocolErrorCode.InternalError;
    throw new ProtocolError(kind, safeText(messageOf(error)), { code });
  }
}
