/** `logs`: the last lines of a process's log. */

import { z } from "zod";
import { lastLines } from "../../logs/last_lines.ts";
import type { LogsJson } from "../../protocol/actions.ts";
import type { ActionContext } from "./context.ts";
import { readPayload, target } from "./payload.ts";

/** Most lines that one answer holds. */
export const MAX_LINES = 10_000;

/** How many lines a client may ask for; 0 is all that fits. */
export const lineCount = z.int().min(0).max(MAX_LINES).default(50);

const logsPayload = z.strictObject({
  target,
  lines: lineCount,
  stderr: z.boolean().default(false),
});

/** The last lines, 1 MiB of them at most. */
export async function logs({ manager }: ActionContext, payload: unknown): Promise<LogsJson> {
  const given = typeof payload === "string" ? { target: payload } : payload;
  const { target, lines, stderr } = readPayload(logsPayload, given);
  const path = stderr ? manager.logPathStderr(target) : manager.logPath(target);
  const text = new TextDecoder().decode(await lastLines(path, lines));
  return { logs: text, path, lines: String(lines) };
}
