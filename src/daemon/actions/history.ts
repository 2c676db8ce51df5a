/** `history`: what the hooks and health checks of a process did last. */

import { snakeCase } from "../../model/key_table.ts";
import type { HealthCheckRun, HookRun } from "../../process/journal.ts";
import type { HealthCheckJson, HistoryJson, HookRunJson } from "../../protocol/history_json.ts";
import type { ActionContext } from "./context.ts";
import { readTarget } from "./payload.ts";

/** Of one process. */
export function history({ manager }: ActionContext, payload: unknown): HistoryJson {
  const { name, id } = manager.inspect(readTarget(payload).target);
  const { journal } = manager.fleet.registry.resolve(id)[0]!;
  return {
    name,
    id: id.slice(0, 8),
    hooks: journal.hooks.map(hookJson),
    health: journal.checks.map(checkJson),
  };
}

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
