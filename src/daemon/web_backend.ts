/** What the web surface gets of the daemon: its verbs and streams, and MCP under `/mcp`. */

import type { Supervisor } from "../manager/supervisor.ts";
import type { Call } from "../mcp/call.ts";
import { mcpHandler } from "../mcp/http.ts";
import type { McpHandler } from "../mcp/http_server.ts";
import { readAction, roleFor } from "../protocol/verbs/mod.ts";
import type { Role } from "../protocol/verbs/verb.ts";
import type { Backend } from "../web/backend.ts";
import type { Mount } from "../web/context.ts";
import { allowRole } from "../auth/principal.ts";
import type { ActionContext } from "./actions/context.ts";
import { streamLogs } from "./actions/logs.ts";
import { dispatch } from "./actions/mod.ts";
import type { LogBatch } from "./log_batch.ts";

/** The verbs and streams. `context` is asked for when the first verb is carried out. */
export function webBackend(supervisor: Supervisor, context: () => ActionContext): Backend {
  return {
    dispatch: (action, payload) => dispatch(context(), action, payload),
    events: (signal) => supervisor.events(signal),
    namesOf: (target) => new Set(supervisor.select(target).map(({ name }) => name)),
    // Where no positions are asked for there are lines only.
    streamLogs: (query) => streamLogs(context(), query) as Promise<ReadableStream<LogBatch>>,
  };
}

/** Other surfaces on the web listener. */
export function webMounts(
  backend: Backend,
  warn: (message: string) => void,
): Readonly<Record<string, Mount>> {
  const handlerFor = (role: Role) => {
    const call = (action: string, payload: unknown) => {
      allowRole({ role }, roleFor(readAction(action, payload)));
      return backend.dispatch(action, payload);
    };
    return mcpHandler(call as Call, {
      role,
      changes: (signal) => backend.events(signal),
      onError: (error) => warn(`MCP: ${error.message}`),
    });
  };
  // A handler knows one role only: no request can be mistaken for another role's.
  const handlers: Readonly<Record<Role, McpHandler>> = {
    read: handlerFor("read"),
    operate: handlerFor("operate"),
    admin: handlerFor("admin"),
  };
  return {
    "/mcp": { role: "read", handle: (request, { role }) => handlers[role](request) },
  };
}
