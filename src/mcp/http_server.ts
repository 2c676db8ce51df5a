/** The part of `/mcp` that needs the SDK. */

import {
  createMcpHandler,
  InMemoryServerEventBus,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import type { Call, Changes } from "./call.ts";
import { type NewsSource, watchChanges } from "./change_watch.ts";
import { createServer } from "./server.ts";
import { type Grant, grantedTools, parseToolsets } from "./tool_names.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/** How `/mcp` serves. */
export interface McpHttpOptions extends Grant {
  /** Where news come from; without them clients get no notifications. */
  readonly changes?: Changes;
  /** Gets what goes wrong beside the answers. */
  readonly onError?: (error: Error) => void;
}

/** Answers one request. */
export type McpHandler = (request: Request) => Promise<Response>;

/** Answers requests, each with a server of its own. All of them have the same role. */
export function httpServer(call: Call, options: McpHttpOptions): McpHandler {
  const { changes, onError } = options;
  const names = async () => (await call("list")).map(({ name }) => name);
  const handler = createMcpHandler(({ era, requestInfo }) => {
    const tells = era === "modern" && changes !== undefined;
    const granted = grantedTools({ ...options, ...toolsetsIn(requestInfo!.url) });
    return createServer(call, { granted, tells, onError });
  }, {
    maxRequestBodySize: MAX_BODY_BYTES,
    // The connections are limited, for each client in its turn.
    maxSubscriptions: Infinity,
    ...(changes === undefined ? {} : { bus: new WatchedBus({ changes, names }) }),
    ...(onError === undefined ? {} : { onerror: onError }),
  });
  return async (request) => {
    // Without the server's signal, which `Deno.serve` aborts on success too: a verb whose client goes
    // away is carried out to its end, and a stream notices it by itself.
    const { url, method, headers, body } = request;
    // A mistake in it is answered as on every route.
    toolsetsIn(url);
    return await handler.fetch(new Request(url, { method, headers, body }));
  };
}

/** `?toolsets=core,jobs`, as clients have no flag here. Throws `bad_request`. */
function toolsetsIn(url: string): Pick<Grant, "toolsets"> {
  const text = new URL(url).searchParams.get("toolsets");
  return text === null ? {} : { toolsets: parseToolsets(text) };
}

/** Carries news to the open streams. Without an open stream it does not listen. */
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
