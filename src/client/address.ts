/** Checks the home, URL and token that a program passes to the client. Pure. */

import { ProcsupError } from "../model/errors.ts";
import { quote } from "../model/quote.ts";
import { REST_BASE } from "../protocol/version.ts";

/** Throws `bad_request` for an invalid path: an empty one would be the working directory. */
export function checkHome(home: unknown): void {
  if (typeof home === "string" && home !== "") return;
  throw new ProcsupError(
    "bad_request",
    `Invalid "home" ${quote(home)}: expected the path of a directory`,
  );
}

/** The base URL of the REST routes of a web listener. Throws `bad_request` for an invalid URL. */
export function baseOf(url: unknown): string {
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (parsed === null || !isHttp) {
    throw new ProcsupError(
      "bad_request",
      `Invalid "url" ${quote(url)}: expected one such as "http://127.0.0.1:9615"`,
    );
  }
  const { origin, pathname, username, password, search, hash } = parsed;
  // Do not quote the URL: it may contain a secret.
  const extra = username || password ? "a user" : search ? "a query" : hash ? "a fragment" : "";
  if (extra !== "") throw new ProcsupError("bad_request", `Invalid "url": it holds ${extra}`);
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, "")}${REST_BASE}`;
}

/** The `Authorization` header for a token. Throws `bad_request` without quoting an invalid one. */
export function bearer(token: unknown): string {
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
  throw new ProcsupError(
    "bad_request",
    'Invalid "token": expected one word, as "procsup token" prints it',
  );
}
