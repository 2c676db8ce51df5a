/** Errors on the wire, and when a verb has failed, the same on every surface; the envelopes. */

import {
  ERROR_TABLE,
  type ErrorCode,
  isErrorCode,
  messageOf,
  type Mistake,
  ProcsupError,
  quote,
} from "../model/errors.ts";
import { type Hint, hintIn } from "../model/hint.ts";
import { StartFailedError } from "../model/start_failed.ts";
import type { ProcessResult } from "./wire.ts";
import { onlyGiven } from "../model/merge_patch.ts";
import { shortened } from "../model/plain_text.ts";
import { PROCESS_STATES, type ProcessState } from "../model/process_info.ts";
import { AmbiguousTargetError } from "../model/target.ts";

/** `ProcsupError` on the wire. */
export interface ErrorJson {
  readonly error: string;
  /** The machine-readable name of the failure. */
  readonly code: ErrorCode;
  /** The next thing to do. */
  readonly hint?: Hint;
  /** The configuration key that is invalid, such as `health_check.url`. */
  readonly field?: string;
  /** For `process_not_found`: a name similar to the target. */
  readonly near?: string;
  /** For `invalid_config`: the mistakes in configuration files whose place is known. */
  readonly mistakes?: readonly Mistake[];
  /** For `ambiguous_target`: names of the matching processes. */
  readonly matches?: readonly string[];
  /** For `start_failed`: the process, its state, and its last output. */
  readonly name?: string;
  readonly state?: ProcessState;
  readonly error_line?: string;
  readonly last_output?: readonly string[];
}

/** Maximum characters of a text in an error: it may quote what a client sent. */
const MAX_TEXT = 10_000;

const MAX_MISTAKES = 100;

/** Converts anything thrown to its wire form. */
export function errorJson(error: unknown): ErrorJson {
  const message = shortened(messageOf(error), MAX_TEXT);
  if (!(error instanceof ProcsupError)) return { error: message, code: "internal" };
  const { code, hint, field, near, mistakes } = error;
  const texts = Object.entries(onlyGiven({ field, near }));
  const shown = Object.fromEntries(texts.map(([key, text]) => [key, shortened(text, MAX_TEXT)]));
  const placed = mistakes?.slice(0, MAX_MISTAKES).map(({ what, ...place }) => (
    { ...place, what: shortened(what, MAX_TEXT) }
  ));
  const rest = {
    ...{ code, ...hint && { hint: shortHint(hint) } },
    ...{ ...shown, ...placed?.length && { mistakes: placed } },
  };
  if (error instanceof AmbiguousTargetError) {
    return { error: message, ...rest, matches: error.matches };
  }
  if (error instanceof StartFailedError) {
    const { summary, processName: name, state, errorLine: error_line, lastOutput } = error;
    const said = { ...error_line && { error_line }, last_output: lastOutput };
    return { error: summary, ...rest, name, state, ...said };
  }
  return { error: message, ...rest };
}

function shortHint({ text, command }: Hint): Hint {
  return {
    ...text !== undefined && { text: shortened(text, MAX_TEXT) },
    ...command && { command },
  };
}

/** The error in a daemon's answer, from any version. */
export function errorOf(json: Readonly<Record<string, unknown>>): ProcsupError {
  const message = String(json.error);
  const code = isErrorCode(json.code) ? json.code : "internal";
  const options = { hint: hintIn(json.hint), field: textIn(json.field), near: textIn(json.near) };
  if (code === "ambiguous_target" && isTexts(json.matches)) {
    return new AmbiguousTargetError(message, json.matches, options);
  }
  const { name: processName, state, last_output: lastOutput } = json;
  if (
    code === "start_failed" && typeof processName === "string" && isState(state) &&
    isTexts(lastOutput)
  ) {
    const failed = { processName, state, errorLine: textIn(json.error_line), lastOutput };
    return new StartFailedError(message, failed, options);
  }
  return new ProcsupError(code, message, options);
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

function isState(value: unknown): value is ProcessState {
  return (PROCESS_STATES as readonly unknown[]).includes(value);
}

/** A verb and its payload, as sent to `IPC_PATH`. */
export interface RequestEnvelope {
  readonly action: string;
  readonly payload?: unknown;
}

/** The envelope in a body. Throws `bad_request`. */
export function readRequestEnvelope(body: unknown): RequestEnvelope {
  if (typeof body !== "object" || body === null || !("action" in body)) {
    throw new ProcsupError("bad_request", 'Missing "action": the envelope is {action, payload}');
  }
  const { action, payload } = body as { readonly action: unknown; readonly payload?: unknown };
  if (typeof action === "string") return { action, payload };
  const what = `Invalid "action" ${quote(action)}: expected the name of a verb`;
  throw new ProcsupError("bad_request", what);
}

/** The answer of the daemon. `error` is empty on success. */
export interface ResponseEnvelope {
  readonly success: boolean;
  /** Null if the verb failed as a whole; the results if it failed for every process. */
  readonly data: unknown;
  readonly error: string;
  readonly code?: ErrorCode;
  readonly hint?: Hint;
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
  readonly results?: readonly ProcessResult[];
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

function firstFailure(results: readonly ProcessResult[]): ProcsupError | undefined {
  const failed = results.find(({ ok }) => !ok);
  return failed && errorOf({ error: `"${failed.name}" failed`, ...failed });
}

function inWords([first, ...more]: readonly string[]): ProcsupError | undefined {
  if (first === undefined) return undefined;
  const rest = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return new ProcsupError("start_failed", first + rest);
}
