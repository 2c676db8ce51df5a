/** The daemon's side of the web surface: verbs, streams, and MCP at `/mcp`. */

import type { Supervisor } from "../manager/supervisor.ts";
import type { McpHandler } from "../mcp/http_server.ts";
import type { Call } from "../mcp/tools.ts";
import { readAction, roleFor } from "../protocol/verbs/mod.ts";
import type { ShutdownNotice } from "../protocol/shutdown_notice.ts";
import type { Role } from "../protocol/verbs/verb.ts";
import type { Backend } from "../web/backend.ts";
import type { Mount } from "../web/context.ts";
import { allowRole } from "../auth/gatekeeper.ts";
import type { ActionContext } from "./actions/context.ts";
import { streamLogs } from "./actions/logs.ts";
import { dispatch } from "./actions/mod.ts";
import type { LogBatch } from "./log_batch.ts";

/** `context` is called when the first verb is carried out. */
export function webBackend(
  supervisor: Supervisor,
  shutdownNotice: ShutdownNotice,
  context: () => ActionContext,
): Backend {
  return {
    shutdownNotice,
    dispatch: (action, payload) => dispatch(context(), action, payload),
    events: (signal) => supervisor.events.stream(signal),
    matcher: (target) => supervisor.registry.matcher(target),
    // Without positions the stream has lines only.
    streamLogs: (query, options) =>
      streamLogs(context(), query, options) as Promise<ReadableStream<LogBatch>>,
  };
}

/** Handlers of other surfaces on the web listener. The first request loads the SDK of MCP. */
export function webMounts(
  backend: Backend,
  warn: (message: string) => void,
): Readonly<Record<string, Mount>> {
  const handlerFor = async (role: Role): Promise<McpHandler> => {
    const call = (action: string, payload: unknown) => {
      allowRole({ role }, roleFor(readAction(action, payload)));
      return backend.dispatch(action, payload);
    };
    const { httpServer } = await import("../mcp/http_server.ts");
    return httpServer(call as Call, {
      role,
      changes: (signal) => backend.events(signal),
      onError: (error) => warn(`MCP: ${error.message}`),
    });
  };
  // One handler for each role, so that no request can act with another role.
  const handlers = new Map<Role, Promise<McpHandler>>();
  return {
    "/mcp": {
      role: "read",
      async handle(request, { role }) {
        const handler = await handlers.getOrInsertComputed(role, handlerFor);
        return await handler(request);
      },
    },
  };
}
