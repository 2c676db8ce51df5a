/** Every answer of the web surface, with the headers that keep browsers safe. */

import { ERROR_TABLE, messageOf, ProcsupError } from "../model/errors.ts";

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

/** On JSON, which is never to be kept. */
export const JSON_HEADERS: Readonly<Record<string, string>> = {
  ...SAFETY,
  "content-type": "application/json",
  "cache-control": "no-store",
};

/** Text or bytes of any type. */
export function reply(
  body: BodyInit | null,
  headers: Readonly<Record<string, string>>,
  status = 200,
): Response {
  return new Response(body, { status, headers: { ...SAFETY, ...headers } });
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
  return reply(text, { ...JSON_HEADERS, ...headers }, status);
}

/** `{error, code}` (spec 2.7) and the status of the error table. */
export function replyError(error: unknown): Response {
  const known = error instanceof ProcsupError ? error : undefined;
  const code = known?.code ?? "internal";
  const extra: Record<string, string> = {};
  if (code === "unauthorized") extra["www-authenticate"] = "Bearer";
  if (code === "rate_limited") extra["retry-after"] = "60";
  // An error that nobody expected may name things that are nobody's business.
  const message = known === undefined ? "Something went wrong in the daemon" : messageOf(error);
  return replyJson({ error: message, code }, ERROR_TABLE[code].http, extra);
}
