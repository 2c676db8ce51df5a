/** `list` and `status`: the processes as they stand. */

import { type ProcessJson, processJson } from "../../protocol/process_json.ts";
import type { ActionContext } from "./context.ts";
import { readTarget } from "./payload.ts";

/** All processes. */
export function list({ manager }: ActionContext): ProcessJson[] {
  return manager.list().map(processJson);
}

/** One process. */
export function status({ manager }: ActionContext, payload: unknown): ProcessJson {
  return processJson(manager.inspect(readTarget(payload).target));
}
