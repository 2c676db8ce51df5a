/** The verbs that inspect processes: `list`, `status`, `history`, `events` and `wait`. */

import type { ActionContext, Handlers } from "./context.ts";
import { hasCode, type ProcsupError } from "../../model/errors.ts";
import { snakeCase } from "../../model/key_table.ts";
import { isNameOf } from "../../model/target.ts";
import { parseRange } from "../../model/time_spec.ts";
import type { HealthCheckRun, HookRun } from "../../process/journal.ts";
import type { ChangeJson } from "../../protocol/change_json.ts";
import { processJson } from "../../protocol/process_json.ts";
import type { Input, Output } from "../../protocol/verbs/types.ts";
import type { HealthCheckJson, HookRunJson } from "../../protocol/wire.ts";

export const INSPECT_ACTIONS: Handlers<"list" | "status" | "history" | "events" | "wait"> = {
  list: ({ supervisor }) => supervisor.list().map(processJson),
  status: ({ supervisor }, { target }) => processJson(supervisor.inspect(target)),
  history({ supervisor }, { target }) {
    const { name, id } = supervisor.inspect(target);
    const { journal } = supervisor.registry.resolve(id)[0]!;
    return {
      name,
      id: id.slice(0, 8),
      hooks: journal.hooks.map(hookJson),
      health: journal.checks.map(checkJson),
    };
  },
  events: pastEvents,
  /** Throws `timeout`, and `wrong_state` if a process is deleted meanwhile. */
  async wait({ supervisor }, { target, for: point, timeout }) {
    return (await supervisor.waitFor(target, point, { timeout })).map(processJson);
  },
};

function hookJson({ hook, at, durationMs, exitCode, timedOut, output }: HookRun): HookRunJson {
  return {
    at: new Date(at).toISOString(),
    hook: snakeCase(hook),
    ok: exitCode === 0,
    exit_code: exitCode,
    timed_out: timedOut,
    duration: Math.round(durationMs * 1e6),
    output,
  };
}

function checkJson({ at, latencyMs, problem }: HealthCheckRun): HealthCheckJson {
  return {
    at: new Date(at).toISOString(),
    ok: problem === "",
    message: problem,
    latency: Math.round(latencyMs * 1e6),
  };
}

/**
 * The last matching events, the oldest first. A target may name a deleted app. Throws `bad_request`,
 * `ambiguous_target` and `process_not_found`.
 */
export async function pastEvents(
  { supervisor, journal }: Pick<ActionContext, "supervisor" | "journal">,
  { target = "all", since, until, type, search = "", before, limit }: Input<"events">,
): Promise<Output<"events">> {
  const range = parseRange({ since, until }, Date.now());
  const { matches, unknown } = matcherFor(supervisor, target);
  const words = search.toLowerCase().split(/\s+/);
  const wanted = (event: ChangeJson) => {
    if (!matches(event) || (type !== undefined && event.type !== type)) return false;
    const text = `${event.name} ${event.type} ${event.reason}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const query = {
    since: range.since ?? -Infinity,
    until: range.until ?? Infinity,
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
  if (unknown !== undefined && events.length === 0 && !await isOnRecord(journal, matches)) {
    throw unknown;
  }
  return { events: events.reverse(), truncated: false };
}

/** Whether the journal has any of these events. */
async function isOnRecord(
  journal: ActionContext["journal"],
  wanted: (event: ChangeJson) => boolean,
): Promise<boolean> {
  const query = { since: -Infinity, until: Infinity };
  for await (const _ of journal.newest({ ...query, wanted })) return true;
  return false;
}

/** A test for the events of a target. With `unknown`, no such process exists, but one may have existed. */
function matcherFor(
  { registry }: ActionContext["supervisor"],
  target: string,
): { readonly matches: (event: ChangeJson) => boolean; readonly unknown?: ProcsupError } {
  try {
    return { matches: registry.matcher(target) };
  } catch (error) {
    if (!hasCode(error, "process_not_found")) throw error;
    return { matches: ({ name }) => isNameOf(target, name), unknown: error };
  }
}
