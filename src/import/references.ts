/** References to variables, as other tools write them, during a conversion. */

import { type ReferenceReader, replaceReferences } from "../model/references.ts";

/** Placeholder for the `$` of references during a conversion; it cannot occur in a file's text. */
const DOLLAR = "\0";

/** A reference to a variable that procsup fills in when the file is loaded. */
export function reference(name: string, fallback?: string): string {
  return `${DOLLAR}{${name}${fallback === undefined ? "" : `:-${fallback}`}}`;
}

/** Whether a text has references. */
export function hasReference(text: string): boolean {
  return text.includes(DOLLAR);
}

/** The text as in a procsup file: `$` is escaped except in references. */
export function escaped(text: string): string {
  return text.replace(/\$(?=[${])/g, "$$$$").replaceAll(DOLLAR, "$");
}

/** The text as the other tool shows it. */
export function shownText(text: string): string {
  return text.replaceAll(DOLLAR, "$");
}

const READER: ReferenceReader = {
  braced: (inside, depth) => {
    const [, name, sign, rest = ""] = /^([A-Za-z_]\w*)(?::?([-?])([^]*))?$/.exec(inside) ?? [];
    if (name === undefined) return `\${${inside}}`;
    if (sign === "?") return reference(name);
    return reference(name, sign && replaceReferences(rest, READER, depth + 1) || "");
  },
  bare: (name) => reference(name, ""),
};

/**
 * Converts `$NAME`, `${NAME}` and `${NAME:-default}` to references, also inside a default, and `$$`
 * to `$`. Unset variables become empty, except those that must be set (`${NAME:?why}`).
 */
export function withReferences(text: string): string {
  return replaceReferences(text, READER);
}

/** Looks up a variable; undefined if it is not set. */
export type Variables = (name: string) => string | undefined;

/** The text with its references filled in; undefined if a variable without a default is not set. */
export function filled(text: string, variables: Variables): string | undefined {
  const innermost = new RegExp(`${DOLLAR}\\{(\\w+)(?::-([^{}${DOLLAR}]*))?\\}`);
  let [rest, isSet] = [text, true];
  for (let match = innermost.exec(rest); match !== null; match = innermost.exec(rest)) {
    const value = variables(match[1]!) || match[2];
    isSet &&= value !== undefined;
    rest = rest.slice(0, match.index) + (value ?? "") + rest.slice(match.index + match[0].length);
  }
  return isSet ? rest : undefined;
}

/** The names of the variables in a text. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(new RegExp(`${DOLLAR}\\{(\\w+)`, "g"))].map(([, name]) => name!);
}
