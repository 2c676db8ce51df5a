/** Reads what a client sent for an action. */

import * as z from "zod/mini";
import { didYouMean } from "../../model/did_you_mean.ts";
import { ProcsupError } from "../../model/errors.ts";
import { issueText } from "../../model/issue_text.ts";

/** A target as every verb takes it. */
export const target = z.string().check(z.minLength(1));

/** A duration as every verb takes it. */
export const duration = z.union([z.string(), z.number()]);

/** `{target, …}`, for verbs that also take a bare target. */
export const targetPayload = z.strictObject({ target, wait: z.optional(z.boolean()) });

/** The payload as the schema has it. Throws `bad_request` naming the field that is wrong. */
export function readPayload<S extends z.ZodMiniType>(schema: S, payload: unknown): z.output<S> {
  const result = z.safeParse(schema, payload, { error: issueText });
  if (result.success) return result.data;
  throw payloadError(result.error.issues[0]!, schema);
}

/** A payload that may be a bare target. */
export function readTarget(payload: unknown): z.output<typeof targetPayload> {
  return readPayload(targetPayload, typeof payload === "string" ? { target: payload } : payload);
}

function payloadError(issue: z.core.$ZodIssue, schema: z.ZodMiniType): ProcsupError {
  if (issue.code === "unrecognized_keys") {
    const known = schema instanceof z.ZodMiniObject ? Object.keys(schema.shape) : [];
    const near = didYouMean(issue.keys[0]!, known);
    return new ProcsupError(
      "bad_request",
      `Unknown field "${issue.keys[0]}"` + (near ? `: did you mean "${near}"?` : ""),
    );
  }
  const field = issue.path.join(".");
  const what = field === "" ? "payload" : `"${field}"`;
  return new ProcsupError("bad_request", `Invalid ${what}: ${issue.message}`);
}
