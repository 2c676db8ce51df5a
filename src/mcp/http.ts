/**
 * MCP over Streamable HTTP, for the web listener's `/mcp`. The SDK is loaded by the first request.
 * Who may connect (token, Host, Origin) is the listener's business.
 */

import type { Call, Changes } from "./call.ts";
import type { Grant } from "./tool_names.ts";

/** How `/mcp` serves. */
export interface McpHttpOptions extends Grant {
  /** Where news come from; without them clients are told of no changes. */
  readonly changes?: Changes;
  /** Gets what goes wrong beside the answers. */
  readonly onError?: (error: Error) => void;
}

/** Answers one request; `grant` narrows what this client may use, such as a role that only reads. */
export type McpHandler = (request: Request, grant?: Grant) => Promise<Response>;

/**
 * Makes the handler of `/mcp`: protocol 2026-07-28, and 2025 clients without sessions, who therefore
 * get answers but no news.
 */
export function mcpHandler(call: Call, options: McpHttpOptions = {}): McpHandler {
  let loaded: Promise<McpHandler> | undefined;
  return async (request, grant) => {
    loaded ??= import("./http_server.ts").then(({ httpServer }) => httpServer(call, options));
    return await (await loaded)(request, grant);
  };
}
