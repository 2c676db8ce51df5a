/** A failure as it stands on the wire, the same on the socket and the web surface. */

import { type ErrorCode, isErrorCode, messageOf, ProcsupError } from "../model/errors.ts";
import { PROCESS_STATES, type ProcessState } from "../model/process_info.ts";
import { StartFailedError } from "../model/start_failed.ts";
import { AmbiguousTargetError } from "../model/target.ts";

/** `ProcsupError` on the wire. */
export interface ErrorJson {
  readonly error: string;
  /** The machine-readable name of the failure. */
  readonly code: ErrorCode;
  /** What to do next. */
  readonly hint?: string;
  /** The key of the configuration that is wrong, where it is one: `health_check.url`. */
  readonly field?: string;
  /** Of `process_not_found`: a name that is like the target, where there is one. */
  readonly near?: string;
  /** Of `ambiguous_target`: names of the processes that matched. */
  readonly matches?: readonly string[];
  /** Of `start_failed`: the process, the state it is left in, and what it wrote last. */
  readonly name?: string;
  readonly state?: ProcessState;
  readonly error_line?: string;
  readonly last_output?: readonly string[];
}

/** The wire form of anything that was thrown. */
export function errorJson(error: unknown): ErrorJson {
  if (!(error instanceof ProcsupError)) return { error: messageOf(error), code: "internal" };
  const { message, code, hint, field, near } = error;
  const rest = {
    code,
    ...(hint === undefined ? {} : { hint }),
    ...(field === undefined ? {} : { field }),
    ...(near === undefined ? {} : { near }),
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

/** The error in an answer of a daemon of any version. */
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
