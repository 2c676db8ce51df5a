/** What a tool is, and what it is run with. */

import type * as z from "zod/mini";
import { ProcsupError } from "../model/errors.ts";
import { selectProcesses } from "../protocol/select_processes.ts";
import type { ActionMap } from "../protocol/verbs/types.ts";
import type { Call } from "./call.ts";
import type { ToolVerb } from "./tool_names.ts";

/** What a tool is run with. */
export interface ToolUse {
  readonly call: Call;
  /** Relative paths start here; undefined where the client's folder is not known. */
  readonly cwd: string | undefined;
  /** The tools that the client has. */
  readonly granted: ReadonlySet<string>;
  /** Aborted when the client disconnects or cancels the call. */
  readonly signal: AbortSignal;
}

/** What a tool gives. */
export interface ToolAnswer {
  readonly data: Readonly<Record<string, unknown>>;
  /** It was carried out, and did not work for all. */
  readonly failed?: boolean;
}

/** What a tool does. */
export interface ToolRun {
  readonly output: z.ZodMiniType;
  /** Takes arguments that the input schema has let through. */
  readonly run: (args: never, use: ToolUse) => Promise<ToolAnswer>;
}

/** One tool. */
export interface Tool extends ToolVerb, ToolRun {}

/** What a verb that looks at one process answers for each that a target addresses. */
export async function forEach<N extends "why" | "logs">(
  target: string,
  { call, signal }: ToolUse,
  verb: N,
  args: Readonly<Record<string, unknown>> = {},
): Promise<ActionMap[N]["data"][]> {
  const ask = (target: string) =>
    call(verb, { ...args, target } as ActionMap[N]["payload"], { signal });
  try {
    return [await ask(target)];
  } catch (error) {
    if (!(error instanceof ProcsupError) || error.code !== "ambiguous_target") throw error;
    const found = selectProcesses(await call("list", undefined, { signal }), [target]);
    return await Promise.all(found.map(({ name }) => ask(name)));
  }
}
