/** What the MCP server works on: the actions of a supervisor, in this process or behind a socket. */

import { ProcsupError } from "../model/errors.ts";
import type { ActionMap, VerbName } from "../protocol/verbs/types.ts";

/** Carries out one action. Throws `ProcsupError`. `DaemonClient.call` is one of these. */
export type Call = <A extends VerbName>(
  action: A,
  payload?: ActionMap[A]["payload"],
  options?: { readonly signal?: AbortSignal },
) => Promise<ActionMap[A]["data"]>;

/** The same, but an unexpected failure goes to `onError`; agents see only that it happened. */
export function reporting(call: Call, onError: (error: Error) => void): Call {
  return async (action, payload, options) => {
    try {
      return await call(action, payload, options);
    } catch (error) {
      if (error instanceof ProcsupError || options?.signal?.aborted) throw error;
      onError(error instanceof Error ? error : new Error(String(error)));
      throw new ProcsupError("internal", `Something went wrong within "${action}"`);
    }
  };
}

/** A piece of news, as far as it matters here. */
export interface Change {
  readonly type: string;
  readonly name: string;
}

/**
 * News from now on, until the signal. Resolves once it listens; may throw, then and later, when its
 * source is not there.
 */
export type Changes = (
  signal: AbortSignal,
) => AsyncIterable<Change> | Promise<AsyncIterable<Change>>;
