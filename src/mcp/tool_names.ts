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
  /** Only these; without it all, and none for an empty list. */
  readonly allow?: readonly ToolName[];
}

/** The tools of a grant. */
export function grantedTools({ readOnly = false, allow = TOOL_NAMES }: Grant): Set<ToolName> {
  const all = readOnly ? READ_ONLY_TOOLS : TOOL_NAMES;
  return new Set(all.filter((name) => allow.includes(name)));
}

/** Reads `list_apps,get_status`. Throws `bad_request` for an unknown tool, and for an empty list. */
export function parseToolNames(text: string): ToolName[] {
  const words = text.split(",").map((word) => word.trim()).filter((word) => word !== "");
  if (words.length === 0) {
    throw new ProcsupError(
      "bad_request",
      `Invalid list of tools ${JSON.stringify(text)}: it is empty`,
      {
        hint: `The tools are: ${TOOL_NAMES.join(", ")}`,
      },
    );
  }
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
