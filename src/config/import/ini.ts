/** Parses the ini format of supervisord. */

import { placeOfLine } from "../document.ts";
import { ConfigProblem } from "../problem.ts";

export interface Section {
  readonly name: string;
  readonly keys: Map<string, string>;
}

/**
 * The sections in order, with the keys in lower case, as supervisord takes them. Indented lines
 * continue the value above. Throws `ConfigProblem`.
 */
export function parseIni(file: string, text: string): Section[] {
  const sections: Section[] = [];
  let last: string | undefined;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = withoutComment(raw);
    const keys = sections.at(-1)?.keys;
    const header = /^\[([^\]]+)\]\s*$/.exec(line);
    const pair = pairIn(line);
    if (line.trim() === "") continue;
    if (header !== null) {
      sections.push({ name: header[1]!.trim(), keys: new Map() });
      last = undefined;
    } else if (/^\s/.test(line) && last !== undefined && keys !== undefined) {
      const before = keys.get(last)!;
      keys.set(last, before === "" ? line.trim() : `${before}\n${line.trim()}`);
    } else if (pair !== undefined && keys !== undefined) {
      last = pair.key;
      keys.set(last, pair.value);
    } else {
      throw new ConfigProblem(file, "not valid ini: expected [section] or key=value", {
        place: placeOfLine(file, text, index),
      });
    }
  }
  return sections;
}

/** A comment starts a line, or follows a space, as in supervisor 4 on Python 3. */
function withoutComment(line: string): string {
  if (/^\s*[;#]/.test(line)) return "";
  const at = line.search(/\s[;#]/);
  return at < 0 ? line : line.slice(0, at);
}

function pairIn(line: string): { readonly key: string; readonly value: string } | undefined {
  const at = line.search(/[=:]/);
  if (at < 1 || /^\s/.test(line)) return undefined;
  return { key: line.slice(0, at).trimEnd().toLowerCase(), value: line.slice(at + 1).trim() };
}
