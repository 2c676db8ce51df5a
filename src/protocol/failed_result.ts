/** A verb on several processes, where one failure is a failure. */

import type { ActionResult } from "./actions.ts";
import { errorOf } from "./error_json.ts";

/** Throws what went wrong for the first process that failed, if one did. */
export function throwFailed(results: readonly ActionResult[]): void {
  const failed = results.find(({ ok }) => !ok);
  if (failed !== undefined) throw errorOf({ error: `"${failed.name}" failed`, ...failed });
}
