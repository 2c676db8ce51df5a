/** Errors on the wire, the same on every surface. */

import { type ErrorCode, isErrorCode, messageOf, ProcsupError } from "../model/errors.ts";
import { onlyGiven } from "../model/merge_patch.ts";
import { PROCESS_STATES, type ProcessState } from "../model/process_info.ts";
import { StartFailedError } from "../model/start_failed.ts";
import { AmbiguousTargetError } from "../model/target.ts";

/** `ProcsupError` on the wire. */
export interface ErrorJson {
  readonly error: string;
  /** The machine-readable name of the failure. */
  readonly code: ErrorCode;
  /** The next thing to do. */
  readonly hint?: string;
  /** The configuration key that is invalid, such as `health_check.url`. */
  readonly field?: string;
  /** For `process_not_found`: a name similar to the target. */
  readonly near?: string;
  /** For `ambiguous_target`: names of the matching processes. */
  readonly matches?: readonly string[];
  /** For `start_failed`: the process, its state, and its last output. */
  readonly name?: string;
  readonly state?: ProcessState;
  readonly error_line?: string;
  readonly last_output?: readonly string[];
}

/** Converts anything thrown to its wire form. */
export function errorJson(error: unknown): ErrorJson {
  if (!(error instanceof ProcsupError)) return { error: messageOf(error), code: "internal" };
  const { message, code, hint, field, near } = error;
  const rest = { code, ...onlyGiven({ hint, field, near }) };
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

/** The error in a daemon's answer, from any version. */
export function errorOf(json: Readonly<Record<string, unknown>>): ProcsupError {
  const message = String(json.error);
  const code = isErrorCode(json.code) ? json.code : "internal";
  const options = { hint: textIn(json.hint), field: textIn(json.field), near: textIn(json.near) };
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
