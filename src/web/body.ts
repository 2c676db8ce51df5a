/** Reads the body of a request as a JSON object. */

import type { Context } from "hono";
import { ProcsupError } from "../model/errors.ts";
import { parseJson } from "../protocol/json_text.ts";

/**
 * The body, `{}` when there is none. Throws `not_json` for another content type, which a form on a
 * foreign page could send without being asked, and `bad_request` for a text that is no JSON object.
 */
export async function readBody(c: Context, wanted: boolean): Promise<Record<string, unknown>> {
  const type = c.req.header("content-type");
  if (type !== undefined && !isJson(type)) throw notJson();
  const text = await c.req.text();
  if (text === "") {
    if (wanted) throw new ProcsupError("bad_request", "The body is missing: JSON is expected");
    return {};
  }
  if (type === undefined) throw notJson();
  const value = parseJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new ProcsupError("invalid_config", "Invalid configuration: expected an object");
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim());
}

function notJson(): ProcsupError {
  return new ProcsupError("not_json", "The body is not JSON: send Content-Type: application/json");
}
