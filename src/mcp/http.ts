/**
 * MCP over Streamable HTTP, for the web listener's `/mcp`. The SDK is loaded by the first request.
 * Who may connect (token, Host, Origin) is the listener's business.
 */

import type { Call } from "./call.ts";
import type { McpHandler, McpHttpOptions } from "./http_server.ts";

/**
 * Makes the handler of `/mcp`: protocol 2026-07-28, and 2025 clients without sessions, who therefore
 * get answers but no news.
 */
export function mcpHandler(call: Call, options: McpHttpOptions = {}): McpHandler {
  let loaded: Promise<McpHandler> | undefined;
  return async (request) => {
    loaded ??= import("./http_server.ts").then(({ httpServer }) => httpServer(call, options));
    return await (await loaded)(request);
  };
}
