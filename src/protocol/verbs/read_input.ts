/** Validates what a client sent for a verb. */

import { nearestWord, withNearest } from "../../model/nearest_word.ts";
import { ProcsupError } from "../../model/errors.ts";
import { issueText } from "../../model/issue_text.ts";
import { quote } from "../../model/quote.ts";
import * as z from "../../npm/zod.ts";
import { nothing } from "./shapes.ts";
import type { Verb } from "./verb.ts";

/**
 * The input of a verb from its payload: an object, or a bare string for the field `bare`. Throws
 * `bad_request`.
 */
export function readInput({ input, bare }: Verb, payload: unknown): unknown {
  if (input === nothing) return undefined;
  const isBare = bare !== undefined && typeof payload === "string";
  return readPayload(input, isBare ? { [bare]: payload } : payload ?? {});
}

/** Parses a payload by a schema. Throws `bad_request` naming the invalid field. */
export function readPayload<S extends z.ZodMiniType>(schema: S, payload: unknown): z.output<S> {
  const result = z.safeParse(schema, payload, { error: issueText });
  if (result.success) return result.data;
  throw payloadError(result.error.issues[0]!, schema, payload);
}

function payloadError(
  issue: z.core.$ZodIssue,
  schema: z.ZodMiniType,
  payload: unknown,
): ProcsupError {
  if (issue.code === "unrecognized_keys") {
    const known = schema instanceof z.ZodMiniObject ? Object.keys(schema.shape) : [];
    const near = nearestWord(issue.keys[0]!, known);
    return new ProcsupError("bad_request", withNearest(`Unknown field "${issue.keys[0]}"`, near));
  }
  const field = issue.path.join(".");
  const what = field === "" ? "payload" : `"${field}"${quoted(issue, payload)}`;
  return new ProcsupError("bad_request", `Invalid ${what}: ${issue.message}`);
}

/** The value to show in the message; nested values may be secret. */
function quoted({ path }: z.core.$ZodIssue, payload: unknown): string {
  if (path.length !== 1) return "";
  const value = Object(payload)[path[0]!];
  return ["string", "number", "boolean"].includes(typeof value) ? ` ${quote(value)}` : "";
}
