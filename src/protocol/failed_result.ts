/** When a verb on several processes has failed: the same on every surface. */

import { ProcsupError } from "../model/errors.ts";
import type { ActionResult } from "./wire.ts";
import { errorOf } from "./error_json.ts";

/** The data of a verb, as far as it tells how the verb went. */
interface Reported {
  readonly results?: readonly ActionResult[];
  /** What went wrong beside the results, in words. */
  readonly errors?: readonly string[];
  /** Of `resurrect`: how many came back. */
  readonly count?: number;
  /** Of the verbs that go on no further when one fails. */
  readonly rolled_back?: boolean;
}

/** The word for what was done, or `failed` when that worked for none. */
export function statusFor(done: string, results: readonly { readonly ok: boolean }[]): string {
  return results.length > 0 && results.every(({ ok }) => !ok) ? "failed" : done;
}

/**
 * The failure of a verb of which nothing was done, undefined when something was. A rolling reload is
 * one thing: it has failed when any of it has.
 */
export function failureOf(data: unknown): ProcsupError | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { results = [], errors = [], count = 0, rolled_back } = data as Reported;
  if (!Array.isArray(results) || !Array.isArray(errors)) return undefined;
  const isPartial = rolled_back === undefined && (count > 0 || results.some(({ ok }) => ok));
  return isPartial ? undefined : firstFailure(results) ?? inWords(errors);
}

/** Throws what went wrong for the first process that failed, if one did. */
export function throwFailed(data: unknown): void {
  const { results = [] } = Object(data) as Reported;
  const failed = failureOf(data) ?? firstFailure(results);
  if (failed !== undefined) throw failed;
}

function firstFailure(results: readonly ActionResult[]): ProcsupError | undefined {
  const failed = results.find(({ ok }) => !ok);
  return failed && errorOf({ error: `"${failed.name}" failed`, ...failed });
}

function inWords([first, ...more]: readonly string[]): ProcsupError | undefined {
  if (first === undefined) return undefined;
  const rest = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return new ProcsupError("start_failed", first + rest);
}
