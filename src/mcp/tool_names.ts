/** The tools, derived from the verb registry, and how to grant a client some of them. */

import { nearestWord, withNearest } from "../model/nearest_word.ts";
import { ProcsupError } from "../model/errors.ts";
import { VERB_ROWS, type VerbName } from "../verbs/mod.ts";
import { includesRole, type McpRow, type Role, TOOLSETS, type Verb } from "../verbs/verb.ts";

export interface ToolVerb {
  readonly name: VerbName;
  readonly verb: Verb;
  readonly row: McpRow;
}

/** All tools, in the order of the list. */
export const TOOL_VERBS: readonly ToolVerb[] = TOOLSETS.flatMap((toolset) =>
  VERB_ROWS.flatMap(([name, verb]) =>
    verb.mcp !== undefined && (verb.mcp.toolset ?? "core") === toolset
      ? [{ name, verb, row: verb.mcp }]
      : []
  )
);

export const TOOL_NAMES: readonly string[] = TOOL_VERBS.map(({ row }) => row.tool);

/** Restricts the tools of a client. */
export interface Grant {
  /** Only tools that this role may use; `read` changes nothing. Default: all. */
  readonly role?: Role;
  /** Only these tools. Default: all; an empty list grants none. */
  readonly allow?: readonly string[];
  /** Only the tools of these sets. Default: all. */
  readonly toolsets?: readonly Toolset[];
}

type Toolset = (typeof TOOLSETS)[number];

export function grantedTools(
  { role = "admin", allow = TOOL_NAMES, toolsets = TOOLSETS }: Grant,
): Set<string> {
  const may = ({ verb, row: { toolset = "core" } }: ToolVerb) =>
    toolsets.includes(toolset) && (verb.role === "open" || includesRole(role, verb.role));
  return new Set(
    TOOL_VERBS.filter(may).map(({ row }) => row.tool).filter((tool) => allow.includes(tool)),
  );
}

/** Parses `list_apps,get_status`. Throws `bad_request` for an unknown tool or an empty list. */
export function parseToolNames(text: string): string[] {
  return namesIn(text, TOOL_NAMES, "tool");
}

/** Parses `core,jobs` or `all`. Throws `bad_request` for an unknown toolset or an empty list. */
export function parseToolsets(text: string): readonly Toolset[] {
  const names = namesIn(text, [...TOOLSETS, "all"], "toolset");
  return names.includes("all") ? TOOLSETS : names as Toolset[];
}

function namesIn(text: string, known: readonly string[], kind: string): string[] {
  const words = text.split(",").map((word) => word.trim()).filter((word) => word !== "");
  const hint = `The ${kind}s are: ${known.join(", ")}`;
  if (words.length === 0) {
    throw new ProcsupError(
      "bad_request",
      `Invalid list of ${kind}s ${JSON.stringify(text)}: it is empty`,
      { hint },
    );
  }
  const unknown = words.find((word) => !known.includes(word));
  if (unknown === undefined) return words;
  const message = withNearest(`Unknown ${kind} "${unknown}"`, nearestWord(unknown, known));
  throw new ProcsupError("bad_request", message, { hint });
}
