/** News without a WebSocket: server-sent events for what happens, and figures that are asked for. */

import { API, ask } from "./api.ts";

/** Something that brings messages until it is closed. */
export interface Stream {
  close(): void;
}

const EVERY_MS = 2000;

/** Where the messages go, which are those of the WebSocket. */
export interface PollSink {
  receive(message: Readonly<Record<string, unknown>>): void;
  /** Nothing comes any more. */
  fail(): void;
}

/** Asks every two seconds, and listens to the events in between. */
export function poll({ receive, fail }: PollSink): Stream {
  let isOver = false;
  const events = new EventSource(`${API}/events`);
  events.addEventListener("message", ({ data }) => {
    if (!isOver) receive({ type: "event", event: JSON.parse(String(data)) });
  });
  const look = async () => {
    try {
      const [processes, metrics] = await Promise.all([ask("/processes"), ask("/system/metrics")]);
      if (isOver) return;
      receive({ type: "process_list", processes });
      receive({ type: "system_metrics", metrics });
    } catch {
      if (!isOver) fail();
    }
  };
  const timer = setInterval(() => document.hidden || void look(), EVERY_MS);
  void look();
  return {
    close() {
      isOver = true;
      clearInterval(timer);
      events.close();
    },
  };
}
