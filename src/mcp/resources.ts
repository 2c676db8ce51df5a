/**
 * The resources: `apps://list`, `apps://{name}`, `logs://{name}` and `metrics://{name}`; the
 * documentation is `docs://topics`, the list of its pages, and `docs://{topic}`, a page.
 */

import { ifPossible } from "../model/errors.ts";
import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { USAGE_FIELDS } from "../protocol/process_json.ts";
import type { Call } from "./tools.ts";
import { failureOf, forAgent, safeLog, UNTRUSTED_NOTICE } from "./agent_text.ts";

export const LIST_URI = "apps://list";

export const APP_SCHEMES = ["apps", "metrics", "logs"] as const;

type Scheme = typeof APP_SCHEMES[number];

const ABOUT: Readonly<Record<Scheme, { mimeType: string; description: string }>> = {
  apps: { mimeType: "application/json", description: "State and configuration of an app" },
  metrics: { mimeType: "application/json", description: "Resource usage of an app" },
  logs: {
    mimeType: "text/plain",
    description: `The end of what an app wrote, 1 MiB at most. ${UNTRUSTED_NOTICE}`,
  },
};

const LIST = {
  uri: LIST_URI,
  name: "apps",
  title: "All apps",
  mimeType: "application/json",
  description: "Every supervised app",
} as const;

/** Apps per page of the list; each has up to three resources. */
const APPS_A_PAGE = 100;

const METRICS = ["name", "state", ...USAGE_FIELDS, "restarts"] as const;

/** Registers the resources that show no more than the granted tools do. */
export function registerResources(
  server: McpServer,
  call: Call,
  granted: ReadonlySet<string>,
): void {
  const schemes = APP_SCHEMES.filter((scheme) =>
    granted.has(scheme === "logs" ? "get_logs" : "get_status")
  );
  const hasList = granted.has("list_apps");
  const access = { call, granted };
  if (hasList) registerList(server, access);
  for (const scheme of schemes) registerApp(server, access, scheme);
  registerDocumentation(server);
  if (schemes.length > 0) listInPages(server, access, schemes, [...hasList ? [LIST] : [], TOPICS]);
}

interface Access {
  readonly call: Call;
  readonly granted: ReadonlySet<string>;
}

function registerList(server: McpServer, { call, granted }: Access): void {
  const { uri, name, ...about } = LIST;
  server.registerResource(name, uri, about, (uri, context) =>
    answering(uri, granted, async () => {
      const processes = await call("list", undefined, { signal: context.mcpReq.signal });
      return jsonContent(uri, processes);
    }));
}

function registerApp(server: McpServer, { call, granted }: Access, scheme: Scheme): void {
  const { mimeType } = ABOUT[scheme];
  const complete = { name: (value: string) => completeName(call, value) };
  server.registerResource(
    `app-${scheme}`,
    new ResourceTemplate(`${scheme}://{name}`, { list: undefined, complete }),
    { title: `App ${scheme}`, ...ABOUT[scheme] },
    (uri, variables, { mcpReq: { signal } }) =>
      answering(uri, granted, async () => {
        const given = String(variables.name ?? "");
        // Clients that follow the URI template standard send `api:0` as `api%3A0`. A name that cannot
        // be decoded belongs to no app.
        const target = ifPossible(() => decodeURIComponent(given)) ?? given;
        if (scheme === "logs") {
          const { logs } = await call("logs", { target, lines: 0 }, { signal });
          const { text, truncated } = safeLog(logs);
          const meta = { "procsup/notice": UNTRUSTED_NOTICE, "procsup/truncated": truncated };
          return content(uri, mimeType, text, meta);
        }
        const process = await call("status", target, { signal });
        const data = scheme === "apps"
          ? process
          : Object.fromEntries(METRICS.map((key) => [key, process[key]]));
        return jsonContent(uri, data);
      }),
  );
}

function jsonContent(uri: URL, value: unknown): ReadResourceResult {
  const { data, notice } = forAgent(value);
  const meta = notice && { "procsup/notice": notice };
  return content(uri, "application/json", JSON.stringify(data), meta || undefined);
}

function content(
  uri: URL,
  mimeType: string,
  text: string,
  meta?: Record<string, unknown>,
): ReadResourceResult {
  return { contents: [{ uri: uri.href, mimeType, text, ...meta && { _meta: meta } }] };
}

/** Replaces the SDK's list, which has no pages. Each page takes one call to the daemon. */
function listInPages(
  { server }: McpServer,
  { call, granted }: Access,
  schemes: readonly Scheme[],
  first: readonly Resource[],
): void {
  server.setRequestHandler("resources/list", async ({ params }, { mcpReq: { signal } }) => {
    const after = afterOf(params?.cursor);
    return await answering(undefined, granted, async () => {
      const rest = (await call("list", undefined, { signal }))
        .filter(({ numeric_id }) => numeric_id > after);
      const page = rest.slice(0, APPS_A_PAGE);
      const last = page.length < rest.length ? page.at(-1) : undefined;
      return {
        resources: [
          ...(after < 0 ? first : []),
          ...page.flatMap(({ name }) => schemes.map((scheme) => resourceOf(scheme, name))),
        ],
        ...(last === undefined ? {} : { nextCursor: String(last.numeric_id) }),
      };
    });
  });
}

/**
 * A cursor is the numeric id of the last app on the previous page, since apps may come and go between
 * pages.
 */
function afterOf(cursor: string | undefined): number {
  if (cursor === undefined) return -1;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor");
}

function resourceOf(scheme: Scheme, name: string): Resource {
  return {
    uri: `${scheme}://${name}`,
    name: `${name} ${scheme}`,
    title: `${name}: ${scheme}`,
    ...ABOUT[scheme],
  };
}

/** Names that begin with `value`. Never fails, since completion is optional. */
async function completeName(call: Call, value: string): Promise<string[]> {
  const processes = await call("list").catch(() => []);
  return processes.map(({ name }) => name).filter((name) => name.startsWith(value));
}

/** Turns failures into protocol errors: not found, or the reason. */
async function answering<T>(
  uri: URL | undefined,
  granted: ReadonlySet<string>,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const { code, text } = failureOf(error, granted);
    if (code === "process_not_found" && uri !== undefined) {
      throw new ResourceNotFoundError(uri.href);
    }
    const kind = code === "ambiguous_target" || code === "bad_request"
      ? ProtocolErrorCode.InvalidParams
      : ProtocolErrorCode.InternalError;
    throw new ProtocolError(kind, text, { code });
  }
}

const MARKDOWN = { mimeType: "text/markdown" } as const;

/** The list of topics, as an entry in the list of resources. */
const TOPICS = {
  uri: "docs://topics",
  name: "docs",
  title: "Documentation",
  ...MARKDOWN,
  description: "Topics of the documentation of procsup; docs://TOPIC is a page",
} as const;

/** Registers the resources of the documentation. It is public, so they need no grant. */
function registerDocumentation(server: McpServer): void {
  const { uri, name, ...about } = TOPICS;
  server.registerResource(name, uri, about, async (uri) => {
    const lines = (await topics()).map(([topic, title]) => `- docs://${topic} ${title}`);
    return content(uri, MARKDOWN.mimeType, `# Documentation\n\n${lines.join("\n")}\n`);
  });
  const complete = {
    topic: async (value: string) =>
      (await topics()).map(([topic]) => topic).filter((topic) => topic.startsWith(value)),
  };
  server.registerResource(
    "docs-page",
    new ResourceTemplate("docs://{topic}", { list: undefined, complete }),
    { title: "Page of the documentation", ...MARKDOWN, description: "How procsup works" },
    async (uri, { topic }) => {
      const { pageText } = await import("../docs/pages.ts");
      const text = await pageText(String(topic));
      if (text === undefined) throw new ResourceNotFoundError(uri.href);
      return content(uri, MARKDOWN.mimeType, text);
    },
  );
}

async function topics(): Promise<[topic: string, title: string][]> {
  const { PAGES } = await import("../docs/pages.ts");
  return Object.entries(PAGES).map(([topic, { title }]) => [topic, title]);
}
