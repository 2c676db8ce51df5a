/** `start`: a new process from its configuration, or existing ones by target. */

import * as z from "zod/mini";
import type { Outcome } from "../../manager/bulk.ts";
import { ProcsupError } from "../../model/errors.ts";
import type { StartResult } from "../../protocol/actions.ts";
import { processJson } from "../../protocol/process_json.ts";
import { type ActionContext, results } from "./context.ts";
import { readPayload, readTarget } from "./payload.ts";

const configPayload = z.looseObject({ wait: z.optional(z.boolean()) });

/** Starts, and answers the (first) process and how each went. */
export async function start(context: ActionContext, payload: unknown): Promise<StartResult> {
  const isKnown = isTarget(payload);
  const outcomes = isKnown ? await startTarget(context, payload) : await startNew(context, payload);
  if (outcomes.length === 0) {
    throw new ProcsupError("process_not_found", "process not found", {
      hint: "There is no process yet; procsup start <script> makes one",
    });
  }
  const [{ process }] = outcomes as [Outcome];
  // A new one has used nothing yet: to read that would cost a look at the whole machine.
  const info = isKnown ? context.manager.fleet.info(process) : process.info();
  return { ...processJson(info), results: await results(context, outcomes) };
}

function isTarget(payload: unknown): boolean {
  return typeof payload === "string" ||
    (typeof payload === "object" && payload !== null && "target" in payload);
}

function startTarget({ manager }: ActionContext, payload: unknown) {
  const { target, wait = false } = readTarget(payload);
  return manager.fleet.start(target, { wait });
}

function startNew({ manager }: ActionContext, payload: unknown) {
  const { wait = false, ...config } = readPayload(configPayload, payload);
  return manager.fleet.add(config, { wait });
}
