/** The envelopes around every IPC request and response. */

import { ERROR_TABLE, type ErrorCode } from "../model/errors.ts";
import { errorJson } from "./error_json.ts";
import { failureOf } from "./failed_result.ts";

/** What the client sends. */
export interface RequestEnvelope {
  readonly action: string;
  readonly payload?: unknown;
}

/** What the daemon answers. `error` is empty on success. */
export interface ResponseEnvelope {
  readonly success: boolean;
  /** Null when the verb failed as a whole; how it went for each process when it failed for all. */
  readonly data: unknown;
  readonly error: string;
  /** The machine-readable name of the failure. */
  readonly code?: ErrorCode;
  /** What to do next. */
  readonly hint?: string;
}

/** The answer to a request, and its HTTP status; a failure when nothing of what was asked was done. */
export function answered(data: unknown): { envelope: ResponseEnvelope; status: number } {
  const error = failureOf(data);
  if (error === undefined) return { status: 200, envelope: { success: true, data, error: "" } };
  const { envelope, status } = failure(error);
  return { status, envelope: { ...envelope, data } };
}

/** The answer to a request that failed, and its HTTP status. */
export function failure(error: unknown): { envelope: ResponseEnvelope; status: number } {
  const json = errorJson(error);
  return { status: ERROR_TABLE[json.code].http, envelope: { success: false, data: null, ...json } };
}
