/** What happened to the apps between two moments. */

import { ProcsupError } from "../model/errors.ts";
import { parseMoment } from "../model/moment.ts";
import { baseName } from "../model/name.ts";
import type { ChangeJson } from "../protocol/change_json.ts";
import type { ActionContext } from "./actions/context.ts";

/**
 * The news on record, the oldest first, chosen by `target`, `since` and `until` of the query. A target
 * may name an app that is no longer there. Throws `bad_request` and `ambiguous_target`.
 */
export function pastEvents(
  { manager, journal }: Pick<ActionContext, "manager" | "journal">,
  query: URLSearchParams,
): ReadableStream<ChangeJson> {
  const now = Date.now();
  const moment = (field: string, otherwise: number) => {
    const value = query.get(field);
    return value === null ? otherwise : parseMoment(field, value, now);
  };
  return journal.read({
    since: moment("since", -Infinity),
    until: moment("until", Infinity),
    wanted: wantedNames(manager, query.get("target") ?? "all"),
  });
}

function wantedNames(
  { fleet }: ActionContext["manager"],
  target: string,
): (name: string) => boolean {
  if (target === "all") return () => true;
  try {
    const names = new Set(fleet.select(target).map(({ name }) => name));
    return (name) => names.has(name);
  } catch (error) {
    if (!(error instanceof ProcsupError) || error.code !== "process_not_found") throw error;
    return (name) => name === target || baseName(name) === target;
  }
}
