/** Parses dotenv files. */

import { ProcsupError } from "./errors.ts";

const LINE = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*)$/;
const DOUBLE_QUOTED = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/s;
const SINGLE_QUOTED = /^'([^']*)'\s*(?:#.*)?$/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Maximum length of a file, in characters. */
const MAX_LENGTH = 1024 * 1024;

/**
 * Parses lines of `NAME=value`. Skips blank lines, `#` comments and a leading `export`. Escapes
 * such as `\n` work in double quotes only; nothing is expanded. Throws `invalid_config` naming the
 * line, never its value, and for a file over 1 MiB.
 */
export function parseDotenv(text: string, file: string): Record<string, string> {
  if (text.length > MAX_LENGTH) {
    throw new ProcsupError("invalid_config", `Invalid "${file}": it is larger than 1 MiB`);
  }
  const variables: Record<string, string> = {};
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const [, name, value] = LINE.exec(line) ?? [];
    const parsed = value === undefined ? undefined : unquote(value);
    if (name === undefined || parsed === undefined) {
      throw new ProcsupError(
        "invalid_config",
        `Invalid line ${index + 1} in "${file}": expected NAME=value`,
      );
    }
    variables[name] = parsed;
  }
  return variables;
}

function unquote(value: string): string | undefined {
  const single = SINGLE_QUOTED.exec(value);
  if (single !== null) return single[1];
  const double = DOUBLE_QUOTED.exec(value);
  if (double !== null) return double[1]!.replace(/\\(.)/gs, (_, c: string) => ESCAPES[c] ?? c);
  if (/^["']/.test(value)) return undefined;
  const comment = value.search(/\s#/);
  return (comment < 0 ? value : value.slice(0, comment)).trim();
}
