/** The verbs that the MCP server calls, in this process or over a socket. */

import { ProcsupError } from "../model/errors.ts";
import type { ActionMap, VerbName } from "../protocol/wire.ts";

/** Carries out a verb. Throws `ProcsupError`. `DaemonClient.call` is one. */
export type Call = <A extends VerbName>(
  action: A,
  payload?: ActionMap[A]["payload"],
  options?: { readonly signal?: AbortSignal },
) => Promise<ActionMap[A]["data"]>;

/** Reports unexpected errors to `onError`; agents only learn that one happened. */
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

/** The part of an event that the MCP server needs. */
export interface Change {
  readonly type: string;
  readonly name: string;
}

/**
 * Events from now on, until the signal aborts. Resolves once it listens. Throws, at once or later,
 * if the source is unavailable.
 */
export type Changes = (
  signal: AbortSignal,
) => AsyncIterable<Change> | Promise<AsyncIterable<Change>>;
