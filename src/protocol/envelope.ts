/** When a verb has failed, the same on every surface, and the envelopes on the Unix socket. */

import { ERROR_TABLE, type ErrorCode, ProcsupError } from "../model/errors.ts";
import { errorJson, errorOf } from "./error_json.ts";
import type { ActionResult } from "./wire.ts";

/** The answer of the daemon. `error` is empty on success. */
export interface ResponseEnvelope {
  readonly success: boolean;
  /** Null if the verb failed as a whole; the results if it failed for every process. */
  readonly data: unknown;
  readonly error: string;
  readonly code?: ErrorCode;
  readonly hint?: string;
}

/** The envelope and HTTP status for the result of a verb. It is a failure if nothing was done. */
export function answered(data: unknown): { envelope: ResponseEnvelope; status: number } {
  const error = failureOf(data);
  if (error === undefined) return { status: 200, envelope: { success: true, data, error: "" } };
  const { envelope, status } = failure(error);
  return { status, envelope: { ...envelope, data } };
}

/** The envelope and HTTP status for an error. */
export function failure(error: unknown): { envelope: ResponseEnvelope; status: number } {
  const json = errorJson(error);
  return { status: ERROR_TABLE[json.code].http, envelope: { success: false, data: null, ...json } };
}

/** The fields of a verb's data that report success or failure. */
interface Reported {
  readonly results?: readonly ActionResult[];
  /** Further error messages. */
  readonly errors?: readonly string[];
  /** Number of restored processes, in the answer of `resurrect`. */
  readonly count?: number;
  /** Set by verbs that stop at the first failure. */
  readonly rolled_back?: boolean;
}

/** Returns `done`, or `failed` if every process failed. */
export function statusFor(done: string, results: readonly { readonly ok: boolean }[]): string {
  return results.length > 0 && results.every(({ ok }) => !ok) ? "failed" : done;
}

/**
 * The failure of a verb that did nothing; undefined if it did something. A rolling reload counts as one
 * operation: it fails if any part fails.
 */
export function failureOf(data: unknown): ProcsupError | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { results = [], errors = [], count = 0, rolled_back } = data as Reported;
  if (!Array.isArray(results) || !Array.isArray(errors)) return undefined;
  const isPartial = rolled_back === undefined && (count > 0 || results.some(({ ok }) => ok));
  return isPartial ? undefined : firstFailure(results) ?? inWords(errors);
}

/** Throws the error of the first process that failed, if any. */
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
