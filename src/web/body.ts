/** Reads the body of a request as a JSON object. */

import type { Context } from "hono";
import { ProcsupError } from "../model/errors.ts";
import { isMap } from "../model/merge_patch.ts";
import { parseJson } from "../protocol/json_text.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/**
 * The body; `{}` if it is empty and not `wanted`. Throws `not_json` for another content type, since
 * a form of another site could send that; `bad_request` for invalid JSON and for JSON that is not an
 * object.
 */
export async function readBody(c: Context, wanted: boolean): Promise<Record<string, unknown>> {
  const type = c.req.header("content-type");
  if (type !== undefined && !isJson(type)) throw notJson();
  const text = await readText(c);
  if (text === "") {
    if (wanted) throw new ProcsupError("bad_request", "Missing body: expected JSON");
    return {};
  }
  if (type === undefined) throw notJson();
  const value = parseJson(text);
  if (isMap(value)) return value;
  throw new ProcsupError("bad_request", "Invalid body: expected a JSON object");
}

/**
 * The body as text. Throws `body_too_large` as soon as it exceeds the limit, with or without
 * `Content-Length`, and `bad_request` if the client disconnects.
 */
export async function readText(c: Context): Promise<string> {
  try {
    return await textOf(c);
  } catch (cause) {
    if (cause instanceof ProcsupError) throw cause;
    throw new ProcsupError("bad_request", "The body is incomplete", { cause });
  }
}

async function textOf(c: Context): Promise<string> {
  const length = c.req.header("content-length");
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  // The HTTP server enforces `Content-Length`.
  if (length !== undefined || c.req.raw.body === null) return await c.req.text();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of c.req.raw.body) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge(): ProcsupError {
  return new ProcsupError("body_too_large", "The body is larger than 1 MiB");
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim());
}

function notJson(): ProcsupError {
  return new ProcsupError("not_json", "The body is not JSON: send Content-Type: application/json");
}
