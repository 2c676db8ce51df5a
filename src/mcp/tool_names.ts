/** Which tools there are (spec 4.4), and which of them a client is given. */

import { didYouMean } from "../model/did_you_mean.ts";
import { ProcsupError } from "../model/errors.ts";

/** Every tool, in the order in which they are listed. */
export const TOOL_NAMES = [
  "list_apps",
  "get_status",
  "get_logs",
  "start_app",
  "stop_app",
  "restart_app",
  "reload_app",
  "delete_app",
  "save_state",
  "resurrect_processes",
] as const;

/** The name of a tool. */
export type ToolName = typeof TOOL_NAMES[number];

/** Tools that change nothing. */
export const READ_ONLY_TOOLS: readonly ToolName[] = ["list_apps", "get_status", "get_logs"];

/** What a client may use. */
export interface Grant {
  /** Only the tools that change nothing. */
  readonly readOnly?: boolean;
  /** Only these; nothing or an empty list: all. */
  readonly allow?: readonly ToolName[];
}

/** The tools of a grant. */
export function grantedTools({ readOnly = false, allow = [] }: Grant): Set<ToolName> {
  return new Set(
    TOOL_NAMES.filter((name) =>
      (allow.length === 0 || allow.includes(name)) && (!readOnly || READ_ONLY_TOOLS.includes(name))
    ),
  );
}

/** Reads `list_apps,get_status`. Throws `bad_request` for a tool that there is not. */
export function parseToolNames(text: string): ToolName[] {
  const words = text.split(",").map((word) => word.trim()).filter((word) => word !== "");
  return words.map((word) => {
    const found = TOOL_NAMES.find((name) => name === word);
    if (found !== undefined) return found;
    const near = didYouMean(word, TOOL_NAMES);
    throw new ProcsupError(
      "bad_request",
      `Unknown tool "${word}"` + (near === undefined ? "" : `: did you mean "${near}"?`),
      { hint: `The tools are: ${TOOL_NAMES.join(", ")}` },
    );
  });
}
