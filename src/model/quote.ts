/** Shows a value in an error message. */

import { ifPossible } from "./errors.ts";
import { shortened } from "./plain_text.ts";

const MAX_LENGTH = 80;

/** As JSON if possible, otherwise as the engine prints it: `NaN`, `5n`, `/x/`. At most 80 characters. */
export function quote(value: unknown): string {
  const text = isJson(value)
    ? textOf(value)
    : String(value) + (typeof value === "bigint" ? "n" : "");
  return text.length > MAX_LENGTH ? shortened(text, MAX_LENGTH - 3) : text;
}

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return typeof value === "string";
  return Array.isArray(value) || Object.prototype.toString.call(value) === "[object Object]";
}

function textOf(value: unknown): string {
  return ifPossible(() => JSON.stringify(value)) ?? "an object";
}
