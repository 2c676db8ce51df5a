/** The verbs on configuration files: `start_all`, `config_reload` and `config_delete`. */

import type { ApplyPlan } from "../../manager/apply.ts";
import type { Outcome } from "../../manager/bulk.ts";
import { ProcsupError } from "../../model/errors.ts";
import type { Input, StartAllResult } from "../../protocol/wire.ts";
import type { ConfigRequest } from "../config_files.ts";
import { type ActionContext, bulkResult, type Handlers, results } from "./context.ts";

/** Nothing is changed if any entry is invalid. */
export const CONFIG_ACTIONS: Handlers<"start_all" | "config_reload" | "config_delete"> = {
  /** Starts processes that are down, and applies the configuration to those that are up. */
  async start_all(context, { config, ...request }) {
    if (config === undefined && !context.configs.any) return await startExisting(context, request);
    const { plan, outcomes, errors, settings } = await context.configs.apply({
      ...request,
      ...source(config),
      startDown: true,
    });
    return { ...answer(outcomes, errors, plan), settings };
  },
  async config_reload(context, { config_path, content, dry_run, prune, ...request }) {
    if (content !== undefined && config_path !== undefined) {
      throw new ProcsupError("bad_request", 'Give either "config_path" or "content", not both');
    }
    const { plan, outcomes, errors, settings } = await context.configs.apply({
      ...request,
      files: config_path === undefined ? undefined : [config_path].flat(),
      content,
      dryRun: dry_run,
      prune,
    });
    return {
      status: dry_run ? "planned" : errors.length > 0 ? "failed" : "reloaded",
      added: plan.added.map(({ name }) => name),
      changed: plan.changed.map(({ config }) => config.name),
      removed: prune ? plan.gone : [],
      kept: prune ? [] : plan.gone,
      unchanged: plan.unchanged,
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
      results: results(outcomes),
    };
  },
  async config_delete(context, { config_path, ...rest }) {
    const files = config_path === undefined ? {} : { files: [config_path].flat() };
    return bulkResult("deleted", await context.configs.remove({ ...rest, ...files }));
  },
};

function source(config: Input<"start_all">["config"]): ConfigRequest {
  if (config === undefined) return {};
  if (typeof config === "string") return { files: [config] };
  return Array.isArray(config) ? { files: config } : { inline: config };
}

/** Without any file, starts the processes that exist. */
async function startExisting(
  { supervisor }: ActionContext,
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
