/**
 * MCP over Streamable HTTP, for `/mcp` on the web listener. The SDK is loaded by the first request. The
 * listener authenticates requests and checks Host and Origin.
 */

import type { Call } from "./call.ts";
import type { McpHandler, McpHttpOptions } from "./http_server.ts";

/**
 * Makes the handler of `/mcp`. Clients of protocol 2026-07-28 get notifications; clients of 2025 have
 * no sessions, so they get only answers.
 */
export function mcpHandler(call: Call, options: McpHttpOptions = {}): McpHandler {
  let loaded: Promise<McpHandler> | undefined;
  return async (request) => {
    loaded ??= import("./http_server.ts").then(({ httpServer }) => httpServer(call, options));
    return await (await loaded)(request);
  };
}
