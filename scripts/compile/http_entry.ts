/** The used parts of @std/http. */

export { eTag, ifNoneMatch } from "@std/http/etag";
export { accepts, acceptsEncodings } from "@std/http/negotiation";
export { STATUS_TEXT } from "@std/http/status";
