/** The tools that read logs. */

import * as z from "zod/mini";
import type { Input, VerbName } from "../protocol/verbs/types.ts";
import { quotedLines, safeLog, UNTRUSTED_NOTICE } from "./safe_data.ts";
import { forEach, type ToolRun } from "./tool.ts";

export const LOGS_TOOLS: { readonly [N in VerbName]?: ToolRun } = {
  logs: {
    output: z.object({
      target: z.string(),
      stream: z.enum(["stdout", "stderr"]),
      path: z.optional(z.string()),
      lines: z.string(),
      truncated: z.boolean(),
      notice: z.string(),
      logs: z.string(),
    }),
    run: async ({ target, ...args }: Input<"logs">, use) => {
      const found = await forEach(target, use, "logs", args);
      const [first] = found;
      const isOne = first !== undefined && found.length === 1;
      const all = found.map(({ logs, path }) => `==> ${path} <==\n${logs}`).join("\n");
      const { text, truncated } = safeLog(isOne ? first.logs : all);
      const path = isOne ? { path: first.path } : {};
      const stream = args.stderr ? "stderr" : "stdout";
      const about = { target, stream, ...path, lines: String(args.lines), truncated };
      return { data: { ...about, notice: UNTRUSTED_NOTICE, logs: text } };
    },
  },
  search_logs: {
    output: z.object({
      lines: z.optional(z.array(z.unknown())),
      patterns: z.optional(z.array(z.unknown())),
      truncated: z.boolean(),
      notice: z.string(),
    }),
    run: async (args: Input<"search_logs">, { call, signal }) => {
      const { lines, patterns, truncated } = await call("search_logs", args, { signal });
      const data = {
        ...lines !== undefined && { lines: lines.map(quoted) },
        ...patterns !== undefined && { patterns: patterns.map(quoted) },
      };
      return { data: { ...data, truncated, notice: UNTRUSTED_NOTICE } };
    },
  },
};

function quoted<T extends { readonly line: string }>(found: T): T {
  return { ...found, line: quotedLines([found.line])[0]! };
}
