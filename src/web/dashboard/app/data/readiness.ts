/** How long apps took to be ready, as far as this page saw them start. */

import { computed } from "@preact/signals";
import { events } from "./news.ts";
import type { ProcessJson } from "./types.ts";

/** Milliseconds by name, of the last start. */
const times = computed(() => {
  const began = new Map<string, number>();
  const took = new Map<string, number>();
  for (const { type, name, at } of events.value.toReversed()) {
    if (type === "starting") began.set(name, at);
    const from = began.get(name);
    if (type !== "running" || from === undefined || at < from) continue;
    took.set(name, at - from);
    began.delete(name);
  }
  return took;
});

/** Of a process that says when it is ready; undefined when that is not known. */
export function readyAfter({ name, ready, config }: ProcessJson): number | undefined {
  return ready && config.wait_ready === true ? times.value.get(name) : undefined;
}
