/** A tool's answer, or its failure, in the words of the protocol. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import { failureOf } from "./failure.ts";
import { safeData } from "./safe_data.ts";
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

/** A failure as a result that the model gets to read. */
export function toolError(error: unknown): CallToolResult {
  const { code, text } = failureOf(error);
  return {
    content: [{ type: "text", text }],
    isError: true,
    _meta: { "procsup/code": code },
  };
}
