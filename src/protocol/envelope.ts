/** The envelopes around every IPC request and response (spec 2.6). */

import { ERROR_TABLE, type ErrorCode } from "../model/errors.ts";
import { errorJson } from "./error_json.ts";

/** What the client sends. */
export interface RequestEnvelope {
  readonly action: string;
  readonly payload?: unknown;
}

/** What the daemon answers. `error` is empty on success. */
export interface ResponseEnvelope {
  readonly success: boolean;
  readonly data: unknown;
  readonly error: string;
  /** The machine-readable name of the failure. */
  readonly code?: ErrorCode;
  /** What to do next. */
  readonly hint?: string;
}

/** The answer to a request that worked. */
export function success(data: unknown): ResponseEnvelope {
  return { success: true, data, error: "" };
}

/** The answer to a request that failed, and its HTTP status. */
export function failure(error: unknown): { envelope: ResponseEnvelope; status: number } {
  const told = errorJson(error);
  return { status: ERROR_TABLE[told.code].http, envelope: { success: false, data: null, ...told } };
}
