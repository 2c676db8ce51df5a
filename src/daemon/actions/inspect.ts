/** The verbs that inspect processes: `list`, `status`, `history`, `events` and `wait`. */

import { snakeCase } from "../../model/key_table.ts";
import type { HealthCheckRun, HookRun } from "../../process/journal.ts";
import { processJson } from "../../protocol/process_json.ts";
import type { HealthCheckJson, HookRunJson } from "../../protocol/wire.ts";
import { pastEvents } from "../past_events.ts";
import type { Handlers } from "./context.ts";

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
