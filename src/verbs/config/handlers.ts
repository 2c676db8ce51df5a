/** The verbs on configuration files: `start_all`, `config_reload` and `config_delete`. */

import type { ApplyPlan } from "../../manager/apply.ts";
import type { Outcome } from "../../manager/bulk.ts";
import { ProcsupError } from "../../model/errors.ts";
import type { ProcessConfig } from "../../model/process_config.ts";
import { takenFromShell } from "../../process/environment.ts";
import type { Input, StartAllResult } from "../../protocol/wire.ts";
import type { ConfigRequest } from "../../daemon/config_files.ts";
import {
  asking,
  bulkResult,
  type Handlers,
  results,
  type VerbContext,
} from "../../daemon/verb_context.ts";

/** Nothing is changed if any entry is invalid. */
export const CONFIG_HANDLERS: Handlers<"start_all" | "config_reload" | "config_delete"> = {
  /** Starts processes that are down, and applies the configuration to those that are up. */
  async start_all(context, { config, shell_env, update_env, ...request }) {
    if (config === undefined && !context.configs.any) return await startExisting(context, request);
    const { plan, outcomes, errors, settings } = await context.configs.apply({
      ...request,
      ...source(config),
      ...asking(context),
      ...{ startDown: true, shellEnv: shell_env, updateEnv: update_env },
    });
    return { ...answer(outcomes, errors, plan), settings, ...fromShell(context, plan, shell_env) };
  },
  async config_reload(context, request) {
    const { config_path, content, dry_run, prune, start, shell_env, update_env, ...rest } = request;
    if (content !== undefined && config_path !== undefined) {
      throw new ProcsupError("bad_request", 'Give either "config_path" or "content", not both');
    }
    const { plan, outcomes, errors, settings } = await context.configs.apply({
      ...rest,
      ...asking(context),
      files: config_path === undefined ? undefined : [config_path].flat(),
      ...{ content, prune, startDown: start, dryRun: dry_run },
      ...{ shellEnv: shell_env, updateEnv: update_env },
    });
    return {
      status: dry_run ? "planned" : errors.length > 0 ? "failed" : "reloaded",
      added: plan.added.map(({ name }) => name),
      changed: plan.changed.map(({ config }) => config.name),
      removed: prune ? plan.gone : [],
      kept: prune ? [] : plan.gone,
      unchanged: plan.unchanged,
      stopped: start ? plan.stopped : [],
      errors,
      changes: plan.changed.map(({ config, fields, restarts, stops, starts }) => ({
        name: config.name,
        restart: restarts,
        stop: stops,
        start: starts,
        rolling: restarts && config.instances > 1,
        fields,
      })),
      settings,
      ...fromShell(context, plan, shell_env),
      results: results(outcomes),
    };
  },
  async config_delete(context, { config_path, ...rest }) {
    const files = config_path === undefined ? {} : { files: [config_path].flat() };
    return bulkResult("deleted", await context.configs.remove({ ...rest, ...files }));
  },
};

/** What apps of a plan got from the shell of this request. */
function fromShell(
  { supervisor }: VerbContext,
  { added, changed }: ApplyPlan,
  shellEnv: ProcessConfig["shellEnv"],
): { from_shell?: string[] } {
  const { inherited } = supervisor.system.world;
  const given = [...added, ...changed.map(({ config }) => config)]
    .filter((config) => shellEnv !== undefined && config.shellEnv === shellEnv);
  const names = new Set(given.flatMap((config) => takenFromShell(inherited, config)));
  return names.size === 0 ? {} : { from_shell: [...names] };
}

function source(config: Input<"start_all">["config"]): ConfigRequest {
  if (config === undefined) return {};
  if (typeof config === "string") return { files: [config] };
  return Array.isArray(config) ? { files: config } : { inline: config };
}

/** Without any file, starts the processes that exist. */
async function startExisting(
  { supervisor }: VerbContext,
  { only, wait }: ConfigRequest,
): Promise<StartAllResult> {
  const { onlyWords } = await import("../../config/select.ts");
  const outcomes: Outcome[] = [];
  for (const target of onlyWords(only) ?? ["all"]) {
    outcomes.push(...await supervisor.start(target, { wait }));
  }
  const errors = outcomes.flatMap(({ error }) => error === undefined ? [] : [error.message]);
  return answer(outcomes, errors);
}

function answer(
  outcomes: readonly Outcome[],
  errors: readonly string[],
  { unchanged, changed }: Pick<ApplyPlan, "unchanged" | "changed"> = { unchanged: [], changed: [] },
): StartAllResult {
  return {
    started: outcomes.filter(({ error }) => error === undefined).map(({ process }) => process.name),
    errors,
    changed: changed.map(({ config }) => config.name),
    unchanged,
    settings: [],
    results: results(outcomes),
  };
}
