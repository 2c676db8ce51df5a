/** Formats failures for agents: what failed, the error code, and what to do next. */

import { type ErrorCode, messageOf, ProcsupError, withCommands } from "../model/errors.ts";
import { safeText } from "./safe_data.ts";
import type { VerbName } from "../protocol/wire.ts";
import { TOOL_VERBS } from "./tool_names.ts";

export interface Failure {
  readonly code: ErrorCode;
  readonly text: string;
}

/** Hints for errors that have none of their own. */
const NEXT_STEPS: Partial<Record<ErrorCode, string>> = {
  ambiguous_target: "Name one of these instead",
  closed: "Check with list_apps how far it got before you call it again",
};

/** Verbs that have other names on the command line. */
const COMMANDS: { readonly [N in VerbName]?: readonly string[] } = {
  add: ["start"],
  config_reload: ["config apply", "up"],
  cron_list: ["cron list", "cron history"],
  cron_run: ["cron run"],
  status: ["status", "why"],
};

interface NextTool {
  readonly tool: string;
  /** Its input that stands for the first argument of the command. */
  readonly field: string | undefined;
}

/** The tools that replace a command. */
const TOOLS_OF: ReadonlyMap<string, readonly NextTool[]> = Map.groupBy(
  TOOL_VERBS.flatMap(({ name, verb: { bare }, row: { tool, input: { shape } } }) => {
    const field = bare && ["target", "file"].find((field) => field in shape);
    return (COMMANDS[name] ?? [name]).map((word) => ({ word, tool, field }));
  }),
  ({ word }) => word,
);

/** Formats a failure, with a hint that an agent with these tools can follow. */
export function failureOf(error: unknown, granted: ReadonlySet<string>): Failure {
  const known = error instanceof ProcsupError ? error : undefined;
  const code = known?.code ?? "internal";
  const next = known?.hint === undefined ? NEXT_STEPS[code] : inTools(known.hint, granted);
  const hint = next === undefined ? "" : `\nHint: ${next}`;
  return { code, text: safeText(`${messageOf(error)} (${code})${hint}`) };
}

/** Replaces commands in a hint by tools. If a command has no tool, says that it is for a terminal. */
export function inTools(hint: string, granted: ReadonlySet<string>): string {
  let forTerminal = false;
  const text = withCommands(hint, ({ verb, placeholder, target, whole }) => {
    const known = TOOLS_OF.get(verb)?.find(({ tool }) => granted.has(tool));
    forTerminal ||= known === undefined;
    if (known === undefined) return whole;
    if (target === undefined) return known.tool;
    return known.field !== undefined && placeholder === undefined
      ? `${known.tool} with ${known.field} "${target}"`
      : `${known.tool} ${target}`;
  });
  return forTerminal ? `${text} (a terminal command: no tool does this)` : text;
}
