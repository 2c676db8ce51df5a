/** The used parts of @std/http. */

export { getCookies, setCookie } from "@std/http/cookie";
export { eTag, ifNoneMatch } from "@std/http/etag";
export { accepts, acceptsEncodings } from "@std/http/negotiation";
export { STATUS_TEXT } from "@std/http/status";
