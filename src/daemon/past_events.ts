/** Reads past events. */

import { ProcsupError } from "../model/errors.ts";
import { parseMoment } from "../model/moment.ts";
import { baseName } from "../model/name.ts";
import type { ChangeJson } from "../protocol/change_json.ts";
import type { Input, Output } from "../protocol/verbs/types.ts";
import type { ActionContext } from "./actions/context.ts";

/**
 * The last matching events, the oldest first. A target may name a deleted app. Throws `bad_request` and
 * `ambiguous_target`.
 */
export async function pastEvents(
  { supervisor, journal }: Pick<ActionContext, "supervisor" | "journal">,
  { target = "all", since, until, type, search = "", before, limit }: Input<"events">,
): Promise<Output<"events">> {
  const now = Date.now();
  const isNamed = wantedNames(supervisor, target);
  const words = search.toLowerCase().split(/\s+/);
  const wanted = (event: ChangeJson) => {
    if (!isNamed(event.name) || (type !== undefined && event.type !== type)) return false;
    const text = `${event.name} ${event.type} ${event.reason}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const query = {
    since: since === undefined ? -Infinity : parseMoment("since", since, now),
    until: until === undefined ? Infinity : parseMoment("until", until, now),
    ...{ wanted, before },
  };
  const events: ChangeJson[] = [];
  let next = "";
  for await (const { event, place } of journal.newest(query)) {
    if (limit > 0 && events.length === limit) {
      return { events: events.reverse(), truncated: true, next };
    }
    events.push(event);
    next = place;
  }
  return { events: events.reverse(), truncated: false };
}

function wantedNames(
  supervisor: ActionContext["supervisor"],
  target: string,
): (name: string) => boolean {
  if (target === "all") return () => true;
  try {
    const names = new Set(supervisor.select(target).map(({ name }) => name));
    return (name) => names.has(name);
  } catch (error) {
    if (!(error instanceof ProcsupError) || error.code !== "process_not_found") throw error;
    return (name) => name === target || baseName(name) === target;
  }
}
