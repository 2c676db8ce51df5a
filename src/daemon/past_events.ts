/** What happened to the apps between two moments. */

import { ProcsupError } from "../model/errors.ts";
import { parseMoment } from "../model/moment.ts";
import { baseName } from "../model/name.ts";
import type { ChangeJson } from "../protocol/change_json.ts";
import type { ActionContext } from "./actions/context.ts";

/** Which events; without a target those of all. */
interface EventQuery {
  readonly target?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/**
 * The events on record, the oldest first. A target may name a deleted app. Throws `bad_request` and `ambiguous_target`.
 */
export function pastEvents(
  { supervisor, journal }: Pick<ActionContext, "supervisor" | "journal">,
  { target = "all", since, until }: EventQuery,
): ReadableStream<ChangeJson> {
  const now = Date.now();
  return journal.read({
    since: since === undefined ? -Infinity : parseMoment("since", since, now),
    until: until === undefined ? Infinity : parseMoment("until", until, now),
    wanted: wantedNames(supervisor, target),
  });
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
