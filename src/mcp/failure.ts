/** A failure for an agent: what did not work, its code, and what to do next. */

import { type ErrorCode, messageOf, ProcsupError } from "../model/errors.ts";
import { safeText } from "./safe_data.ts";
import type { VerbName } from "../protocol/verbs/types.ts";
import { TOOL_VERBS } from "./tool_names.ts";

/** A failure in words. */
export interface Failure {
  readonly code: ErrorCode;
  readonly text: string;
}

/** What there is to do where the error itself says nothing. */
const NEXT_STEPS: Partial<Record<ErrorCode, string>> = {
  ambiguous_target: "Name one of these instead",
  closed: "See with list_apps how far it went, before you call it again",
};

/** Where a verb goes by other words on the command line. */
const COMMANDS: { readonly [N in VerbName]?: readonly string[] } = {
  add: ["start"],
  config_reload: ["config apply", "up"],
  cron_list: ["cron list", "cron history"],
  cron_run: ["cron run"],
  status: ["status", "why"],
};

interface NextTool {
  readonly tool: string;
  readonly target: boolean;
}

/** Commands whose place a tool takes, and whether a target follows them. */
const TOOLS_OF: ReadonlyMap<string, readonly NextTool[]> = Map.groupBy(
  TOOL_VERBS.flatMap(({ name, verb: { bare }, row: { tool } }) =>
    (COMMANDS[name] ?? [name]).map((word) => ({ word, tool, target: bare !== undefined }))
  ),
  ({ word }) => word,
);

/** Tells a failure, with a next step that an agent with these tools can take. */
export function failureOf(error: unknown, granted: ReadonlySet<string>): Failure {
  const known = error instanceof ProcsupError ? error : undefined;
  const code = known?.code ?? "internal";
  const next = known?.hint === undefined ? NEXT_STEPS[code] : inTools(known.hint, granted);
  const hint = next === undefined ? "" : `\nHint: ${next}`;
  return { code, text: safeText(`${messageOf(error)} (${code})${hint}`) };
}

/** A hint with tools in place of commands; where no tool does it, it says whose business it is. */
export function inTools(hint: string, granted: ReadonlySet<string>): string {
  let forTerminal = false;
  const text = hint.replaceAll(
    /\bprocsup ((?:cron |config )?[a-z]+)(?: (<\w+>))?(?: (\w[\w.:-]*))?(?: --?\w[\w-]*(?: \d\w*)?)*/g,
    (whole, verb: string, blank: string | undefined, word: string | undefined) => {
      const known = TOOLS_OF.get(verb)?.find(({ tool }) => granted.has(tool));
      forTerminal ||= known === undefined;
      if (known === undefined) return whole;
      if (word === undefined) return known.tool;
      return known.target && blank === undefined
        ? `${known.tool} with target "${word}"`
        : `${known.tool} ${word}`;
    },
  );
  return forTerminal ? `${text} (a command for a terminal: there is no tool for it)` : text;
}
