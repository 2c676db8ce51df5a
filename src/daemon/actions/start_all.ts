/** `start_all`: everything that a configuration file holds, or part of it. */

import * as z from "zod/mini";
import type { Outcome } from "../../manager/bulk.ts";
import type { StartAllResult } from "../../protocol/actions.ts";
import type { ConfigRequest } from "../config_files.ts";
import { common, commonRequest, words } from "./config_payload.ts";
import { type ActionContext, results } from "./context.ts";
import { readPayload } from "./payload.ts";

const startAllPayload = z.strictObject({
  ...common,
  config: z.optional(z.union([words, z.record(z.string(), z.unknown())])),
});

/** Starts what is not up, and gives what is up its configuration. Nothing when any of it is wrong. */
export async function startAll(
  context: ActionContext,
  payload: unknown,
): Promise<StartAllResult> {
  const { config, ...rest } = readPayload(startAllPayload, payload ?? {});
  const request = commonRequest(rest);
  if (config === undefined && !context.configs.any) return await startThere(context, request);
  const { plan, outcomes, errors, settings } = await context.configs.apply({
    ...request,
    ...source(config),
    startDown: true,
  });
  return { ...await answer(context, outcomes, errors, plan.unchanged), settings };
}

function source(config: string | string[] | object | undefined): ConfigRequest {
  if (config === undefined) return {};
  if (typeof config === "string") return { files: [config] };
  return Array.isArray(config) ? { files: config } : { inline: config };
}

/** Without any file: the processes that there are. */
async function startThere(
  context: ActionContext,
  { only, wait = false }: ConfigRequest,
): Promise<StartAllResult> {
  const { fleet } = context.manager;
  const { onlyWords } = await import("../../config/select.ts");
  const targets = only === undefined ? ["all"] : onlyWords(only);
  const outcomes: Outcome[] = [];
  for (const target of targets) outcomes.push(...await fleet.start(target, { wait }));
  const errors = outcomes.flatMap(({ error }) => error === undefined ? [] : [error.message]);
  return await answer(context, outcomes, errors, []);
}

async function answer(
  context: ActionContext,
  outcomes: readonly Outcome[],
  errors: readonly string[],
  unchanged: readonly string[],
): Promise<StartAllResult> {
  return {
    started: outcomes.filter(({ error }) => error === undefined).map(({ process }) => process.name),
    errors,
    unchanged,
    settings: [],
    results: await results(context, outcomes),
  };
}
