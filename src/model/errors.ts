/** The expected failures, and the meaning of each error code on every surface. */

import type { Hint } from "./hint.ts";
import { shortened } from "./plain_text.ts";

/** How every surface reports an error: HTTP status, exit code of the command line. */
interface ErrorMeaning {
  readonly http: number;
  readonly exit: number;
  /** Help topic that explains it: `procsup help <page>`. */
  readonly page: string;
  /** One sentence for people. */
  readonly means: string;
}

/** The machine-readable name of a failure; stable across versions. */
export type ErrorCode =
  | "bad_request"
  | "unknown_verb"
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
  | "host_unreachable"
  | "other_version"
  | "too_many_clients"
  | "home_unusable"
  | "home_in_use"
  | "timeout";

/** The meaning of each error code. */
export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorMeaning>> = {
  bad_request: meaning(400, 2, "commands", "The request or command line is wrong."),
  unknown_verb: meaning(400, 2, "upgrading", "The daemon does not know this verb."),
  unauthorized: meaning(401, 7, "tokens", "The token is missing or wrong."),
  forbidden: meaning(403, 7, "tokens", "The role is too low, or the system denies it."),
  process_not_found: meaning(404, 4, "targets", "No process matches the target."),
  not_found: meaning(404, 1, "commands", "Something else that was named does not exist."),
  method_not_allowed: meaning(405, 2, "routes", "The route does not have this HTTP method."),
  ambiguous_target: meaning(409, 6, "targets", "The target matches several processes, not one."),
  name_taken: meaning(409, 6, "starting", "A process of this name exists."),
  address_in_use: meaning(409, 6, "sockets", "Another program listens at this address."),
  wrong_state: meaning(409, 6, "restarts", "The process is in a state that does not allow this."),
  body_too_large: meaning(413, 2, "rest", "The body of the request exceeds the limit."),
  not_json: meaning(415, 2, "rest", "The body of the request is not JSON."),
  invalid_config: meaning(422, 2, "configuration", "A configuration is wrong: see `field`."),
  rate_limited: meaning(429, 7, "tokens", "Too many wrong tokens from this address."),
  start_failed: meaning(422, 1, "starting", "The process did not start, or did not stay up."),
  stop_failed: meaning(
    422,
    1,
    "restarts",
    "A process that belongs to the app could not be killed.",
  ),
  internal: meaning(500, 1, "faults", "A failure that procsup did not expect."),
  closed: meaning(
    503,
    5,
    "faults",
    "The daemon is shutting down or went away during the call, or the library's manager was closed.",
  ),
  daemon_unreachable: meaning(503, 5, "faults", "No daemon answers."),
  daemon_hangs: meaning(503, 5, "faults", "The daemon runs but does not answer."),
  host_unreachable: meaning(503, 5, "remote", "ssh does not reach the daemon's machine."),
  other_version: meaning(503, 5, "upgrading", "The daemon has a different version."),
  too_many_clients: meaning(503, 5, "rest", "Too many connections are open."),
  home_unusable: meaning(500, 2, "architecture", "The daemon's home directory cannot be used."),
  home_in_use: meaning(
    409,
    6,
    "architecture",
    "Another daemon or manager uses this home directory.",
  ),
  timeout: meaning(504, 124, "health", "The time limit passed."),
};

function meaning(http: number, exit: number, page: string, means: string): ErrorMeaning {
  return { http, exit, page, means };
}

/** True for a known error code. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(ERROR_TABLE, value);
}

/** A mistake in a configuration file. */
export interface Mistake {
  /** Path of the file. */
  readonly file: string;
  /** Its line; the first is 1. */
  readonly line: number;
  /** Its column; the first is 1. */
  readonly column: number;
  /** What is wrong, as a sentence. */
  readonly what: string;
}

/** The optional parts of a `ProcsupError`. */
export interface ErrorDetails {
  /** The next thing to do; a string is a text without a command. */
  readonly hint?: Hint | string | undefined;
  /** The configuration key that is invalid. */
  readonly field?: string | undefined;
  /** The known name closest to the one given. */
  readonly near?: string | undefined;
  /** The mistakes in configuration files whose place is known. */
  readonly mistakes?: readonly Mistake[] | undefined;
}

/** Every failure that procsup expects and names. `code` is the contract; the message is for people. */
export class ProcsupError extends Error {
  /** The machine-readable name of the failure. */
  readonly code: ErrorCode;
  /** The next thing to do; undefined if nothing is obvious. */
  readonly hint: Hint | undefined;
  /** The configuration key that is invalid, such as `health_check.url`. */
  readonly field: string | undefined;
  /** The known name closest to the one given; undefined if none is close. */
  readonly near: string | undefined;
  /** The mistakes in configuration files whose place is known. */
  readonly mistakes: readonly Mistake[] | undefined;

  /** Creates an error; the options become its properties. */
  constructor(
    code: ErrorCode,
    message: string,
    { hint, field, near, mistakes, cause }: ErrorOptions & ErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ProcsupError";
    this.code = code;
    this.hint = typeof hint === "string" ? { text: hint } : hint;
    this.field = field;
    this.near = near;
    this.mistakes = mistakes;
  }
}

/** Throws `invalid_config`: `Cannot start "api": <problem>`. */
export function refuseStart(
  name: string,
  problem: string,
  details?: ErrorOptions & ErrorDetails,
): never {
  throw new ProcsupError(
    "invalid_config",
    `Cannot start ${JSON.stringify(name)}: ${problem}`,
    details,
  );
}

/** Whether an error is one of ours with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is ProcsupError {
  return error instanceof ProcsupError && codes.includes(error.code);
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What `act` returns; undefined if it throws. For failures that do not matter to the caller. */
export function ifPossible<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

const MAX_QUOTED = 80;

/**
 * Shows a value in a message: as JSON if possible, otherwise as the engine prints it: `NaN`, `5n`,
 * `/x/`. At most 80 characters.
 */
export function quote(value: unknown): string {
  const text = isJson(value)
    ? ifPossible(() => JSON.stringify(value)) ?? "an object"
    : String(value) + (typeof value === "bigint" ? "n" : "");
  return text.length > MAX_QUOTED ? shortened(text, MAX_QUOTED - 3) : text;
}

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return typeof value === "string";
  return Array.isArray(value) || Object.prototype.toString.call(value) === "[object Object]";
}
