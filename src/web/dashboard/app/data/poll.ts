/** Updates without a WebSocket: a stream of events, and polled figures. */

import { ask, jsonLines, send } from "./api.ts";
import type { ProcessJson, SystemMetrics } from "./types.ts";

/** Delivers messages until it is closed. */
export interface Stream {
  close(): void;
}

const EVERY_MS = 2000;
/** Timeout of the figures, after which the stream is lost. */
const PATIENCE_MS = 8000;

/** Receives the same messages as over the WebSocket. */
interface PollSink {
  receive(message: Readonly<Record<string, unknown>>): void;
  /** Called when the stream is lost. */
  fail(): void;
}

/** All processes and the host's figures, asked for together. */
export function fetchState(
  options: { readonly signal: AbortSignal },
): Promise<[ProcessJson[], SystemMetrics]> {
  return Promise.all([
    ask<ProcessJson[]>("/processes", options),
    ask<SystemMetrics>("/system/metrics", options),
  ]);
}

/** Polls every two seconds, and receives events in between. */
export function poll({ receive, fail }: PollSink): Stream {
  const over = new AbortController();
  const { signal } = over;
  const listen = async () => {
    for await (const batch of jsonLines(await send("/events", { signal }))) {
      for (const event of batch) receive({ type: "event", event });
    }
    fail();
  };
  const look = async () => {
    const each = { signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]) };
    try {
      const [processes, metrics] = await fetchState(each);
      receive({ type: "process_list", processes });
      receive({ type: "system_metrics", metrics });
    } catch {
      if (!signal.aborted) fail();
    }
  };
  const timer = setInterval(() => document.hidden || void look(), EVERY_MS);
  void look();
  listen().catch(() => signal.aborted || fail());
  return {
    close() {
      over.abort();
      clearInterval(timer);
    },
  };
}
