/** The envelopes of responses on the Unix socket. */

import { ERROR_TABLE, type ErrorCode } from "../model/errors.ts";
import { errorJson } from "./error_json.ts";
import { failureOf } from "./failed_result.ts";

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
