/** Which tools there are, by the registry, and which of them a client is given. */

import { didYouMean } from "../model/did_you_mean.ts";
import { ProcsupError } from "../model/errors.ts";
import { VERB_ROWS, type VerbName } from "../protocol/verbs/mod.ts";
import {
  includesRole,
  type McpRow,
  type Role,
  TOOLSETS,
  type Verb,
} from "../protocol/verbs/verb.ts";

/** A verb that is a tool. */
export interface ToolVerb {
  readonly name: VerbName;
  readonly verb: Verb;
  readonly row: McpRow;
}

/** Every one, in the order in which they are listed. */
export const TOOL_VERBS: readonly ToolVerb[] = TOOLSETS.flatMap((toolset) =>
  VERB_ROWS.flatMap(([name, verb]) =>
    verb.mcp !== undefined && (verb.mcp.toolset ?? "core") === toolset
      ? [{ name, verb, row: verb.mcp }]
      : []
  )
);

/** The names of the tools. */
export const TOOL_NAMES: readonly string[] = TOOL_VERBS.map(({ row }) => row.tool);

/** What a client may use. */
export interface Grant {
  /** Only what this role may do: `read` changes nothing. Default: all. */
  readonly role?: Role;
  /** Only these tools; without it all, and none for an empty list. */
  readonly allow?: readonly string[];
  /** Only the tools of these sets. Default: all. */
  readonly toolsets?: readonly Toolset[];
}

/** A group of tools. */
type Toolset = (typeof TOOLSETS)[number];

/** The names of the tools of a grant. */
export function grantedTools(
  { role = "admin", allow = TOOL_NAMES, toolsets = TOOLSETS }: Grant,
): Set<string> {
  const may = ({ verb, row: { toolset = "core" } }: ToolVerb) =>
    toolsets.includes(toolset) && (verb.role === "open" || includesRole(role, verb.role));
  return new Set(
    TOOL_VERBS.filter(may).map(({ row }) => row.tool).filter((tool) => allow.includes(tool)),
  );
}

/** Reads `list_apps,get_status`. Throws `bad_request` for an unknown tool, and for an empty list. */
export function parseToolNames(text: string): string[] {
  return namesIn(text, TOOL_NAMES, "tool");
}

/** Reads `core,jobs`, or `all`. Throws `bad_request` for an unknown toolset, and for an empty list. */
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
  const near = didYouMean(unknown, known);
  throw new ProcsupError(
    "bad_request",
    `Unknown ${kind} "${unknown}"` + (near === undefined ? "" : `: did you mean "${near}"?`),
    { hint },
  );
}
