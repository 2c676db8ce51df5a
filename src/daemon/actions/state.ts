/** `save` and `resurrect`: the list of processes on the disk. */

import * as z from "zod/mini";
import type { ActionMap, ResurrectJson } from "../../protocol/actions.ts";
import type { ActionContext } from "./context.ts";
import { readPayload } from "./payload.ts";

const savePayload = z.optional(z.strictObject({ allow_empty: z.optional(z.boolean()) }));

/** Saves the list. */
export async function save(
  { manager }: ActionContext,
  payload: unknown,
): Promise<ActionMap["save"]["data"]> {
  const { allow_empty = false } = readPayload(savePayload, payload ?? undefined) ?? {};
  return { status: "saved", count: await manager.save({ allowEmpty: allow_empty }) };
}

/** Brings back what was saved. */
export async function resurrect({ manager }: ActionContext): Promise<ResurrectJson> {
  return { status: "resurrected", ...await manager.resurrect() };
}
