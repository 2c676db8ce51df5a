/** Refuses misspelled options, which would otherwise be ignored. */

import { nearestWord, withNearest } from "../model/nearest_word.ts";
import { type ErrorCode, ProcsupError } from "../model/errors.ts";
import type { DurationInput } from "../model/duration.ts";
import { isMap } from "../model/merge_patch.ts";
import { quote } from "../model/quote.ts";
import type { LineOptions, RunOptions, StartOptions, StopOptions } from "./options.ts";

/** Throws if the value is not an object, or for its first unknown key. */
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
  throw new ProcsupError(code, withNearest(`Unknown key "${key}"`, nearestWord(key, known)));
}

/** The options of a stop. A plain duration is the time until SIGKILL. Throws `bad_request`. */
export function stopOptions(how: DurationInput | StopOptions): StopOptions {
  if (typeof how !== "object") return { timeout: how };
  refuseUnknown("options", how, ["force", "timeout", "signal"], "bad_request");
  return how;
}

/** The options of a start. Throws `bad_request`. */
export function startOptions(options: StartOptions): StartOptions {
  refuseUnknown("options", options, ["wait", "signal"], "bad_request");
  return options;
}

/** The options of a job's run. Throws `bad_request`. */
export function runOptions(options: RunOptions): RunOptions {
  refuseUnknown("options", options, ["timeout", "signal"], "bad_request");
  return options;
}

const LINE_KEYS: readonly (keyof LineOptions)[] = [
  ...["tail", "follow", "newOnly", "stream", "signal"] as const,
  ...["since", "until", "grep", "invert", "ignoreCase", "level"] as const,
];

/** The options that select lines. Throws `bad_request`. */
export function lineOptions(options: LineOptions): LineOptions {
  refuseUnknown("options", options, LINE_KEYS, "bad_request");
  const { stream } = options;
  if (stream === undefined || stream === "stdout" || stream === "stderr") return options;
  const what = `Invalid "stream" ${quote(stream)}: expected "stdout" or "stderr"`;
  throw new ProcsupError("bad_request", what);
}
