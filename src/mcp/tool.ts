import type * as z from "zod/mini";
import { askEachMatch } from "../protocol/each_match.ts";
import type { ActionMap } from "../protocol/verbs/types.ts";
import type { Call } from "./call.ts";
import type { ToolVerb } from "./tool_names.ts";

/** What a tool uses while it runs. */
export interface ToolUse {
  readonly call: Call;
  /** Base of relative paths; undefined if the client's folder is unknown. */
  readonly cwd: string | undefined;
  readonly granted: ReadonlySet<string>;
  /** Aborted when the client disconnects or cancels the call. */
  readonly signal: AbortSignal;
}

export interface ToolAnswer {
  readonly data: Readonly<Record<string, unknown>>;
  /** True if the verb was carried out but failed for some processes. */
  readonly failed?: boolean;
}

export interface ToolRun {
  readonly output: z.ZodMiniType;
  /** Receives arguments that have passed the input schema. */
  readonly run: (args: never, use: ToolUse) => Promise<ToolAnswer>;
}

export interface Tool extends ToolVerb, ToolRun {}

/** Calls a verb for one process, or for each process that a target matches. */
export async function forEach<N extends "why" | "logs">(
  target: string,
  { call, signal }: ToolUse,
  verb: N,
  args: Readonly<Record<string, unknown>> = {},
): Promise<ActionMap[N]["data"][]> {
  const ask = (target: string) =>
    call(verb, { ...args, target } as ActionMap[N]["payload"], { signal });
  return await askEachMatch(target, ask, () => call("list", undefined, { signal }));
}
