/** The daemon's side of the web surface: verbs, streams, and MCP at `/mcp`. */

import type { Supervisor } from "../manager/supervisor.ts";
import type { ProcessChange } from "../model/process_info.ts";
import type { McpHandler } from "../mcp/http_server.ts";
import type { Call } from "../mcp/tools.ts";
import { readVerb } from "../verbs/mod.ts";
import type { ShutdownNotice } from "../protocol/shutdown_notice.ts";
import type { Backend } from "../web/backend.ts";
import type { Mount } from "../web/context.ts";
import { allowRole, type Principal } from "../auth/gatekeeper.ts";
import type { VerbContext } from "./verb_context.ts";
import { streamLogs, streamTerminal } from "../verbs/logs/handlers.ts";
import { dispatch } from "./dispatch.ts";

/** Maximum number of senders whose handler for MCP is kept. */
const MAX_HANDLERS = 20;

/** `context` is called when the first verb is carried out. */
export function webBackend(
  supervisor: Supervisor,
  shutdownNotice: ShutdownNotice,
  context: () => VerbContext,
  by?: Principal,
): Backend {
  const only = by?.only;
  return {
    ...{ shutdownNotice, only },
    as: (principal) => webBackend(supervisor, shutdownNotice, context, principal),
    dispatch: (verb, payload) => dispatch({ ...context(), by }, verb, payload),
    events: (signal) => changesFor(supervisor, only, signal),
    streamEvents: () => context().limits.open(by, () => changesFor(supervisor, only)),
    matcher: (target) => supervisor.directory.matcher(target, only),
    cpuSeconds: () => {
      const seconds = supervisor.usage.cpuSeconds(supervisor.directory.list());
      return new Map([...seconds].map(([id, value]) => [id.slice(0, 8), value]));
    },
    streamLogs: (query, byName) =>
      context().limits.open(by, () => streamLogs({ ...context(), by }, query, byName)),
    streamTerminal: (query) =>
      context().limits.open(by, () => streamTerminal({ ...context(), by }, query)),
  };
}

/** The events of the apps that exist for a token. */
function changesFor(
  { events, directory }: Supervisor,
  only: readonly string[] | undefined,
  signal?: AbortSignal,
): ReadableStream<ProcessChange> {
  const all = events.stream(signal);
  if (only === undefined) return all;
  const isVisible = directory.matcher("all", only);
  return all.pipeThrough(
    new TransformStream<ProcessChange, ProcessChange>({
      transform: (change, out) => isVisible(change) ? out.enqueue(change) : undefined,
    }),
  );
}

/** Handlers of other surfaces on the web listener. The first request loads the SDK of MCP. */
export function webMounts(
  backend: Backend,
  warn: (message: string) => void,
): Readonly<Record<string, Mount>> {
  const handlerFor = async (principal: Principal): Promise<McpHandler> => {
    const { role } = principal;
    const own = backend.as(principal);
    const call = (verb: string, payload: unknown, { agent }: { agent?: string } = {}) => {
      allowRole({ role }, readVerb(verb, payload).verb.role);
      return backend.as({ ...principal, agent }).dispatch(verb, payload);
    };
    const { httpServer } = await import("../mcp/http_server.ts");
    return httpServer(call as Call, {
      role,
      changes: (signal) => own.events(signal),
      onError: (error) => warn(`MCP: ${error.message}`),
    });
  };
  // One handler for each kind of sender, so that no request can act as another one.
  const handlers = new Map<string, Promise<McpHandler>>();
  return {
    "/mcp": {
      role: "read",
      async handle(request, principal) {
        const { role, account, only = [] } = principal;
        const sender = JSON.stringify([role, account, only]);
        const known = handlers.get(sender);
        // The last one used is the last one forgotten.
        handlers.delete(sender);
        const handler = known ?? handlerFor(principal);
        handlers.set(sender, handler);
        if (handlers.size > MAX_HANDLERS) handlers.delete(handlers.keys().next().value!);
        return await (await handler)(request);
      },
    },
  };
}
