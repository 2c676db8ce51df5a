/** JSON data as YAML in block style. */

import { isMap } from "./merge_patch.ts";

/** Words that every YAML parser reads as the same string without quotes. */
const PLAIN = /^[A-Za-z_][A-Za-z0-9_./-]*$/;
const NOT_TEXT = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

/** The YAML text of a JSON value, without a final newline. */
export function yaml(value: unknown): string {
  return lines(value).join("\n");
}

function lines(value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap((item) => lines(item).map((line, i) => (i === 0 ? "- " : "  ") + line));
  }
  if (isNested(value) && isMap(value)) {
    return Object.entries(value).filter(([, inner]) => inner !== undefined).flatMap(
      ([key, inner]) => {
        if (!isNested(inner)) return [`${scalar(key)}: ${scalar(inner)}`];
        return [`${scalar(key)}:`, ...lines(inner).map((line) => `  ${line}`)];
      },
    );
  }
  return [scalar(value)];
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** JSON strings are double-quoted YAML, except for some characters that YAML requires to be escaped. */
function scalar(value: unknown): string {
  if (typeof value === "string" && PLAIN.test(value) && !NOT_TEXT.test(value)) return value;
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
