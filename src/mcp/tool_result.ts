/** A tool's answer, or its failure, in the words of the protocol. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import { messageOf, ProcsupError } from "../model/errors.ts";
import { safeData, safeText } from "./safe_data.ts";
import type { ToolAnswer } from "./tools.ts";

/** The answer as structured data, and the same as text for clients that know no structure. */
export function toolResult({ data, failed = false }: ToolAnswer): CallToolResult {
  const safe = safeData(data) as Record<string, unknown>;
  return {
    content: [{ type: "text", text: JSON.stringify(safe) }],
    structuredContent: safe,
    ...(failed ? { isError: true } : {}),
  };
}

/** A failure: what, its code, and what to do next. */
export function toolError(error: unknown): CallToolResult {
  const known = error instanceof ProcsupError ? error : undefined;
  const code = known?.code ?? "internal";
  const hint = known?.hint === undefined ? "" : `\nHint: ${known.hint}`;
  return {
    content: [{ type: "text", text: safeText(`${messageOf(error)} (${code})${hint}`) }],
    isError: true,
    _meta: { "procsup/code": code },
  };
}
