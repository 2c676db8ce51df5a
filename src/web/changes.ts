/** Hands on the daemon's news for as long as somebody is interested. */

import type { ProcessChange } from "../model/process_change.ts";
import type { Backend } from "./backend.ts";

/** Calls `act` with all news from now on; returns its undoing. */
export function onChanges(backend: Backend, act: (change: ProcessChange) => void): () => void {
  const over = new AbortController();
  const run = async () => {
    // A stream that fell behind is ended; the next one begins with what happens then.
    while (!over.signal.aborted) {
      for await (const change of backend.events(over.signal)) act(change);
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  void run();
  return () => over.abort();
}
