/** What is used of @std/http. */

export { getCookies, setCookie } from "npm:deno-std@1.4.0/http/cookie.js";
export { eTag, ifNoneMatch } from "npm:deno-std@1.4.0/http/etag.js";
export { accepts } from "npm:deno-std@1.4.0/http/negotiation.js";
export { STATUS_TEXT } from "npm:deno-std@1.4.0/http/status.js";
