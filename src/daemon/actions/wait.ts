/** `wait`: answers when processes have come to a point in their life. */

import * as z from "zod/mini";
import { parseDuration } from "../../model/duration.ts";
import { ProcsupError } from "../../model/errors.ts";
import { WAIT_POINTS } from "../../model/wait_point.ts";
import { type ProcessJson, processJson } from "../../protocol/process_json.ts";
import type { ActionContext } from "./context.ts";
import { duration, readPayload, target } from "./payload.ts";

const waitPayload = z.strictObject({
  target,
  for: z._default(z.enum(WAIT_POINTS), "ready"),
  timeout: z.optional(duration),
});

/** Waits. Throws `timeout`, and `wrong_state` when a process is deleted meanwhile. */
export async function wait({ manager }: ActionContext, payload: unknown): Promise<ProcessJson[]> {
  const given = typeof payload === "string" ? { target: payload } : payload;
  const { target, for: point, timeout } = readPayload(waitPayload, given);
  const late = new AbortController();
  const timer = timeout === undefined
    ? undefined
    : setTimeout(() => late.abort(tooLate(target, point, timeout)), parseDuration(timeout));
  try {
    return (await manager.fleet.waitFor(target, point, late.signal)).map(processJson);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(target: string, point: string, timeout: string | number): ProcsupError {
  return new ProcsupError("timeout", `"${target}" has not come to "${point}" within ${timeout}`);
}
