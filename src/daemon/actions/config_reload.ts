/** `config_reload`: makes the processes what the configuration files say, or tells what that would take. */

import * as z from "zod/mini";
import { ProcsupError } from "../../model/errors.ts";
import type { ConfigReloadResult } from "../../protocol/actions.ts";
import { common, commonRequest, words } from "./config_payload.ts";
import { type ActionContext, results } from "./context.ts";
import { readPayload } from "./payload.ts";

const reloadPayload = z.strictObject({
  ...common,
  config_path: z.optional(words),
  content: z.optional(
    z.strictObject({ file: z.string().check(z.startsWith("/")), text: z.string() }),
  ),
  dry_run: z.optional(z.boolean()),
  prune: z.optional(z.boolean()),
});

/** Reconciles. Nothing is touched when any entry is wrong. */
export async function configReload(
  context: ActionContext,
  payload: unknown,
): Promise<ConfigReloadResult> {
  const given = typeof payload === "string" ? { config_path: payload } : payload ?? {};
  const { config_path, content, dry_run = false, prune = false, ...rest } = readPayload(
    reloadPayload,
    given,
  );
  if (content !== undefined && config_path !== undefined) {
    throw new ProcsupError("bad_request", 'Give either "config_path" or "content", not both');
  }
  const files = typeof config_path === "string" ? [config_path] : config_path;
  const { plan, outcomes, errors, settings } = await context.configs.apply({
    ...commonRequest(rest),
    ...(files === undefined ? {} : { files }),
    ...(content === undefined ? {} : { content }),
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
    changes: plan.changed.map(({ config, fields, restarts }) => ({
      name: config.name,
      restart: restarts,
      rolling: restarts && config.instances > 1,
      fields,
    })),
    settings,
    results: await results(context, outcomes),
  };
}
