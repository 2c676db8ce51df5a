/** Parses the ini format of supervisord. */

export interface Section {
  readonly name: string;
  readonly keys: Map<string, string>;
}

/** A line that is not valid ini, counted from 1. */
export class IniError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * The sections in order, with the keys in lower case, as supervisord takes them. Indented lines
 * continue the value above. Throws `IniError`.
 */
export function parseIni(text: string): Section[] {
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
      throw new IniError(index + 1, "expected [section] or key=value");
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
