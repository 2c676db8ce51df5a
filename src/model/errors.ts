/** Every expected failure, and the one table that turns its code into each surface's answer. */

/** What an error means on every surface: HTTP status, exit code of the command line. */
export interface ErrorMeaning {
  readonly http: number;
  readonly exit: number;
}

/** The machine-readable name of a failure; stable across versions. */
export type ErrorCode =
  | "bad_request"
  | "unknown_action"
  | "unauthorized"
  | "forbidden"
  | "process_not_found"
  | "not_found"
  | "method_not_allowed"
  | "ambiguous_target"
  | "name_taken"
  | "address_in_use"
  | "wrong_state"
  | "body_too_large"
  | "not_json"
  | "invalid_config"
  | "rate_limited"
  | "start_failed"
  | "stop_failed"
  | "internal"
  | "closed"
  | "daemon_unreachable"
  | "daemon_hangs"
  | "other_version"
  | "too_many_clients"
  | "home_unusable"
  | "home_in_use"
  | "timeout";

const MEANINGS: Readonly<Record<ErrorCode, ErrorMeaning>> = {
  bad_request: { http: 400, exit: 2 },
  unknown_action: { http: 400, exit: 2 },
  unauthorized: { http: 401, exit: 7 },
  forbidden: { http: 403, exit: 7 },
  process_not_found: { http: 404, exit: 4 },
  not_found: { http: 404, exit: 1 },
  method_not_allowed: { http: 405, exit: 2 },
  ambiguous_target: { http: 409, exit: 6 },
  name_taken: { http: 409, exit: 6 },
  address_in_use: { http: 409, exit: 6 },
  wrong_state: { http: 409, exit: 6 },
  body_too_large: { http: 413, exit: 2 },
  not_json: { http: 415, exit: 2 },
  invalid_config: { http: 422, exit: 2 },
  rate_limited: { http: 429, exit: 7 },
  start_failed: { http: 500, exit: 1 },
  stop_failed: { http: 500, exit: 1 },
  internal: { http: 500, exit: 1 },
  closed: { http: 503, exit: 5 },
  daemon_unreachable: { http: 503, exit: 5 },
  daemon_hangs: { http: 503, exit: 5 },
  other_version: { http: 503, exit: 5 },
  too_many_clients: { http: 503, exit: 5 },
  home_unusable: { http: 500, exit: 2 },
  home_in_use: { http: 409, exit: 6 },
  timeout: { http: 504, exit: 124 },
};

/** Code → HTTP status and exit code. */
export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorMeaning>> = MEANINGS;

/** Whether a string received from elsewhere is one of our codes. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(MEANINGS, value);
}

/** What an error says besides its code and its message; see `ProcsupError`. */
export interface ErrorDetails {
  readonly hint?: string | undefined;
  readonly field?: string | undefined;
  readonly near?: string | undefined;
}

/** Every failure that procsup expects and names. `code` is the contract; the message is for people. */
export class ProcsupError extends Error {
  /** The machine-readable name of the failure. */
  readonly code: ErrorCode;
  /** The next thing to do, as one line, where there is an obvious one. */
  readonly hint: string | undefined;
  /** The key of the configuration that is wrong, where it is one: `health_check.url`. */
  readonly field: string | undefined;
  /** What may have been meant by an unknown name, where something is like it. */
  readonly near: string | undefined;

  /** An error; the options are its properties. */
  constructor(
    code: ErrorCode,
    message: string,
    { hint, field, near, cause }: ErrorOptions & ErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ProcsupError";
    this.code = code;
    this.hint = hint;
    this.field = field;
    this.near = near;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
