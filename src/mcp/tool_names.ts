/** Which tools there are, by the registry, and which of them a client is given. */

import { didYouMean } from "../model/did_you_mean.ts";
import { ProcsupError } from "../model/errors.ts";
import { VERB_ROWS, type VerbName } from "../protocol/verbs/mod.ts";
import { includesRole, type McpRow, type Role, type Verb } from "../protocol/verbs/verb.ts";

/** A verb that is a tool. */
export interface ToolVerb {
  readonly name: VerbName;
  readonly verb: Verb;
  readonly row: McpRow;
}

/** Every one, in the order in which they are listed. */
export const TOOL_VERBS: readonly ToolVerb[] = VERB_ROWS.flatMap(([name, verb]) =>
  verb.mcp === undefined ? [] : [{ name, verb, row: verb.mcp }]
);

/** The names of the tools. */
export const TOOL_NAMES: readonly string[] = TOOL_VERBS.map(({ row }) => row.tool);

/** What a client may use. */
export interface Grant {
  /** Only what this role may do: `read` changes nothing. Default: all. */
  readonly role?: Role;
  /** Only these tools; without it all, and none for an empty list. */
  readonly allow?: readonly string[];
}

/** The names of the tools of a grant. */
export function grantedTools({ role = "admin", allow = TOOL_NAMES }: Grant): Set<string> {
  const may = ({ verb }: ToolVerb) => verb.role === "open" || includesRole(role, verb.role);
  return new Set(
    TOOL_VERBS.filter(may).map(({ row }) => row.tool).filter((tool) => allow.includes(tool)),
  );
}

/** Reads `list_apps,get_status`. Throws `bad_request` for an unknown tool, and for an empty list. */
export function parseToolNames(text: string): string[] {
  const words = text.split(",").map((word) => word.trim()).filter((word) => word !== "");
  const hint = `The tools are: ${TOOL_NAMES.join(", ")}`;
  if (words.length === 0) {
    throw new ProcsupError(
      "bad_request",
      `Invalid list of tools ${JSON.stringify(text)}: it is empty`,
      { hint },
    );
  }
  const unknown = words.find((word) => !TOOL_NAMES.includes(word));
  if (unknown === undefined) return words;
  const near = didYouMean(unknown, TOOL_NAMES);
  throw new ProcsupError(
    "bad_request",
    `Unknown tool "${unknown}"` + (near === undefined ? "" : `: did you mean "${near}"?`),
    { hint },
  );
}
