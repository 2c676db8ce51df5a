/** Options that a program misspells are refused, not left out. */

import { didYouMean } from "../model/did_you_mean.ts";
import { type ErrorCode, ProcsupError } from "../model/errors.ts";
import type { DurationInput } from "../model/duration.ts";
import { isMap } from "../model/merge_patch.ts";
import { quote } from "../model/quote.ts";
import type { StopOptions } from "./options.ts";

/** Throws for what is not an object, and for its first unknown key. */
export function refuseUnknown(
  what: string,
  given: unknown,
  known: readonly string[],
  code: ErrorCode = "invalid_config",
): void {
  if (!isMap(given)) {
    throw new ProcsupError(code, `Invalid ${what} ${quote(given)}: expected an object`);
  }
  const key = Object.keys(given).find((name) => !known.includes(name));
  if (key === undefined) return;
  const near = didYouMean(key, known);
  throw new ProcsupError(code, `Unknown key "${key}"` + (near ? `: did you mean "${near}"?` : ""));
}

/** The options of a stop; a duration alone is the grace before SIGKILL. Throws `bad_request`. */
export function stopOptions(how: DurationInput | StopOptions): StopOptions {
  if (typeof how !== "object") return { timeout: how };
  refuseUnknown("options", how, ["force", "timeout", "signal"], "bad_request");
  return how;
}
