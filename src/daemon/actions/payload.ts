/** Reads what a client sent for an action. */

import * as z from "zod";
import { didYouMean } from "../../model/did_you_mean.ts";
import { ProcsupError } from "../../model/errors.ts";

/** A target as every verb takes it. */
export const target = z.string().min(1);

/** A duration as every verb takes it. */
export const duration = z.union([z.string(), z.number()]);

/** `{target, …}`, for verbs that also take a bare target. */
export const targetPayload = z.strictObject({ target, wait: z.boolean().optional() });

/** The payload as the schema has it. Throws `bad_request` naming the field that is wrong. */
export function readPayload<S extends z.ZodType>(schema: S, payload: unknown): z.output<S> {
  const result = schema.safeParse(payload);
  if (result.success) return result.data;
  throw payloadError(result.error.issues[0]!, schema);
}

/** A payload that may be a bare target. */
export function readTarget(payload: unknown): z.output<typeof targetPayload> {
  return readPayload(targetPayload, typeof payload === "string" ? { target: payload } : payload);
}

function payloadError(issue: z.core.$ZodIssue, schema: z.ZodType): ProcsupError {
  if (issue.code === "unrecognized_keys") {
    const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const near = didYouMean(issue.keys[0]!, known);
    return new ProcsupError(
      "bad_request",
      `Unknown field "${issue.keys[0]}"` + (near ? `: did you mean "${near}"?` : ""),
    );
  }
  const field = issue.path.join(".");
  const what = field === "" ? "payload" : `"${field}"`;
  const message = issue.message.replace(/^Invalid input: /, "");
  return new ProcsupError("bad_request", `Invalid ${what}: ${message}`);
}
