/**
 * MCP over Streamable HTTP, for `/mcp` on the web listener, which authenticates requests and checks Host
 * and Origin. Clients of protocol 2026-07-28 get notifications; clients of 2025 have no sessions, so
 * they get only answers.
 */

import {
  createMcpHandler,
  InMemoryServerEventBus,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { type Changes, type NewsSource, watchChanges } from "./change_watch.ts";
import { createServer } from "./server.ts";
import type { Call } from "./tools.ts";
import { type Grant, grantedTools, parseToolsets } from "./tool_names.ts";

const MAX_BODY_BYTES = 1024 * 1024;

export interface McpHttpOptions extends Grant {
  /** Source of changes; without it clients get no notifications. */
  readonly changes?: Changes;
  /** Called with errors outside of answers. */
  readonly onError?: (error: Error) => void;
}

export type McpHandler = (request: Request) => Promise<Response>;

/** Answers each request with a server of its own, all with the same role. */
export function httpServer(call: Call, options: McpHttpOptions): McpHandler {
  const { changes, onError } = options;
  const names = async () => (await call("list")).map(({ name }) => name);
  const handler = createMcpHandler(({ era, requestInfo }) => {
    const notifies = era === "modern" && changes !== undefined;
    const granted = grantedTools({ ...options, ...toolsetsIn(requestInfo!.url) });
    return createServer(call, { granted, notifies, onError });
  }, {
    maxRequestBodySize: MAX_BODY_BYTES,
    // Connections are limited elsewhere, per client.
    maxSubscriptions: Infinity,
    ...(changes === undefined ? {} : { bus: new WatchedBus({ changes, names }) }),
    ...(onError === undefined ? {} : { onerror: onError }),
  });
  return async (request) => {
    // Do not pass on the request's signal: `Deno.serve` aborts it on success too. A verb is completed
    // even if the client disconnects, and streams notice that themselves.
    const { url, method, headers, body } = request;
    // Check it here, so that an error is reported as on any other route.
    toolsetsIn(url);
    return await handler.fetch(new Request(url, { method, headers, body }));
  };
}

/** Reads `?toolsets=core,jobs`: HTTP clients cannot pass a flag. Throws `bad_request`. */
function toolsetsIn(url: string): Pick<Grant, "toolsets"> {
  const text = new URL(url).searchParams.get("toolsets");
  return text === null ? {} : { toolsets: parseToolsets(text) };
}

/** Sends changes to open streams. Listens only while a stream is open. */
class WatchedBus implements ServerEventBus {
  readonly #source: NewsSource;
  readonly #bus = new InMemoryServerEventBus();
  #stop: AbortController | undefined;

  constructor(source: NewsSource) {
    this.#source = source;
  }

  publish(event: ServerEvent): void {
    this.#bus.publish(event);
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    const unsubscribe = this.#bus.subscribe(listener);
    if (this.#stop === undefined) this.#watch();
    return () => {
      unsubscribe();
      if (this.#bus.listenerCount > 0) return;
      this.#stop?.abort();
      this.#stop = undefined;
    };
  }

  #watch(): void {
    this.#stop = new AbortController();
    watchChanges(this.#source, {
      resourcesChanged: () => this.publish({ kind: "resources_list_changed" }),
      resourceUpdated: (uri) => this.publish({ kind: "resource_updated", uri }),
    }, this.#stop.signal);
  }
}
