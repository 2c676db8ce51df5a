/** Every answer of the web surface, with the headers that keep browsers safe. */

import { ERROR_TABLE, ProcsupError } from "../model/errors.ts";
import { STATUS_TEXT } from "../npm/http.js";
import { type ErrorJson, errorJson } from "../protocol/error_json.ts";

const PAGE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; " +
  "frame-ancestors 'none'";

/** On all answers. */
const SAFETY = {
  "content-security-policy": PAGE_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** Text or bytes of any type. */
export function reply(
  body: BodyInit | null,
  headers: Readonly<Record<string, string>>,
  status = 200,
): Response {
  return new Response(body, { status, headers: { ...SAFETY, ...headers } });
}

/** An answer that another surface made, under the same headers; `body` takes the place of its own. */
export function replyWith(
  { status, headers }: Response,
  body: ReadableStream<Uint8Array> | null,
): Response {
  return reply(body, { "cache-control": "no-store", ...Object.fromEntries(headers) }, status);
}

/** JSON that is not to be kept. */
export function replyJson(
  data: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return replyJsonText(JSON.stringify(data) ?? "null", status, headers);
}

/** The same, serialized already. */
export function replyJsonText(
  text: BodyInit,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const json = { "content-type": "application/json", "cache-control": "no-store" };
  return reply(text, { ...json, ...headers }, status);
}

/** Whether its words are meant for clients. Those of any other error may name files, and more. */
export function isExpected(error: unknown): error is ProcsupError {
  return error instanceof ProcsupError && error.code !== "internal";
}

/** A refusal as bytes, for a connection without a response to write to, which ends with it. */
export function refusalText(
  status: number,
  { error, code }: Pick<ErrorJson, "error" | "code">,
): string {
  const body = JSON.stringify({ error, code });
  return [
    `HTTP/1.1 ${status} ${STATUS_TEXT[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${new TextEncoder().encode(body).length}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

/** `{error, code}` and what else clients get to know of an error. */
export function publicError(error: unknown): ErrorJson {
  return errorJson(isExpected(error) ? error : UNEXPECTED);
}

/** The same as an answer, with the status of the error table. */
export function replyError(error: unknown): Response {
  const shown = publicError(error);
  const extra: Record<string, string> = {};
  if (shown.code === "unauthorized") extra["www-authenticate"] = "Bearer";
  if (shown.code === "rate_limited") extra["retry-after"] = "60";
  return replyJson(shown, ERROR_TABLE[shown.code].http, extra);
}

const UNEXPECTED = new ProcsupError("internal", "Something went wrong in the daemon");
