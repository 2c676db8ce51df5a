/** The envelopes around every IPC request and response (spec 2.6). */

import { ERROR_TABLE, type ErrorCode, messageOf, ProcsupError } from "../model/errors.ts";

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
  const known = error instanceof ProcsupError ? error : undefined;
  const code = known?.code ?? "internal";
  return {
    status: ERROR_TABLE[code].http,
    envelope: {
      success: false,
      data: null,
      error: messageOf(error),
      code,
      ...(known?.hint === undefined ? {} : { hint: known.hint }),
    },
  };
}
