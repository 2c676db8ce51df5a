/** How `/mcp` is served, and what serves it. */

import type { Changes } from "./call.ts";
import type { Grant } from "./tool_names.ts";

/** How `/mcp` serves. */
export interface McpHttpOptions extends Grant {
  /** Where news come from; without them clients are told of no changes. */
  readonly changes?: Changes;
  /** Gets what goes wrong beside the answers. */
  readonly onError?: (error: Error) => void;
}

/** Answers one request. */
export type McpHandler = (request: Request) => Promise<Response>;
