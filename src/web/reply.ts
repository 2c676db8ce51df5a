/** Builds the answers of the web surface, with headers that protect browsers. */

import { RateLimitedError } from "../auth/gatekeeper.ts";
import { ERROR_TABLE, hasCode, ProcsupError } from "../model/errors.ts";
import { STATUS_TEXT } from "@std/http/status";
import { type ErrorJson, errorJson } from "../protocol/envelope.ts";

const PAGE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; " +
  "frame-ancestors 'none'";

const SAFETY = {
  "content-security-policy": PAGE_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

export function reply(
  body: BodyInit | null,
  headers: Readonly<Record<string, string>>,
  status = 200,
): Response {
  return new Response(body, { status, headers: { ...SAFETY, ...headers } });
}

/** Adds our headers to the answer of another surface, with `body` as its body. */
export function replyWith(
  { status, headers }: Response,
  body: ReadableStream<Uint8Array> | null,
): Response {
  return reply(body, { "cache-control": "no-store", ...Object.fromEntries(headers) }, status);
}

/** JSON that must not be cached. */
export function replyJson(
  data: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return replyJsonText(JSON.stringify(data) ?? "null", status, headers);
}

/** Like `replyJson()`, for serialized JSON. */
export function replyJsonText(
  text: string | Uint8Array<ArrayBuffer>,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = typeof text === "string" ? new TextEncoder().encode(text) : text;
  // Hono does not compress short bodies; it reads their length from this header.
  const length = { "content-length": String(body.length) };
  const json = { "content-type": "application/json", "cache-control": "no-store", ...length };
  return reply(body, { ...json, ...headers }, status);
}

/** Whether an error's message is meant for clients. Others may reveal paths and more. */
export function isExpected(error: unknown): error is ProcsupError {
  return error instanceof ProcsupError && error.code !== "internal";
}

/** The parts of an error that clients may see. */
export function publicError(error: unknown): ErrorJson {
  return errorJson(isExpected(error) ? error : UNEXPECTED);
}

/** The answer to an error, with the status of the error table. Its JSON begins with `before`. */
export function replyError(error: unknown, before: object = {}): Response {
  const shown = publicError(error);
  return replyJson({ ...before, ...shown }, ERROR_TABLE[shown.code].http, errorHeaders(error));
}

/** Like `replyError()`, for a connection that has no response object. It closes the connection. */
export function refusalText(
  error: unknown,
  status: number = ERROR_TABLE[publicError(error).code].http,
): string {
  const body = JSON.stringify(publicError(error));
  const headers = {
    "content-type": "application/json",
    "content-length": new TextEncoder().encode(body).length,
    connection: "close",
    ...errorHeaders(error),
  };
  return [
    `HTTP/1.1 ${status} ${STATUS_TEXT[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    body,
  ].join("\r\n");
}

function errorHeaders(error: unknown): Record<string, string> {
  if (hasCode(error, "unauthorized")) return { "www-authenticate": "Bearer" };
  return error instanceof RateLimitedError ? { "retry-after": String(error.seconds) } : {};
}

const UNEXPECTED = new ProcsupError("internal", "Something went wrong in the daemon");
