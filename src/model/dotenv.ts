/** Parses dotenv files. */

import { ProcsupError } from "./errors.ts";

const SPACE = "[^\\S\\n]*";
const DOUBLE_QUOTED = `"([^"\\\\]*(?:\\\\[^][^"\\\\]*)*)"`;
const SINGLE_QUOTED = "'([^']*)'";
const UNQUOTED = `(?!${SPACE}["'])([^\\n]*)`;
const COMMENT = "(?:#[^\\n]*)?";
/** Whatever a program may be given, such as `discovery.type`; shells allow less. */
const NAME = "([^\\s=#\"'][^\\s=\"'\0]*)";
const VALUE = `(?:${SPACE}(?:${DOUBLE_QUOTED}|${SINGLE_QUOTED})${SPACE}${COMMENT}|${UNQUOTED})`;

/** A line, or the lines of a variable whose quotes close on a later one. */
const ENTRY = new RegExp(
  `${SPACE}(?:(?:export[^\\S\\n]+)?${NAME}${SPACE}=${VALUE}|${COMMENT})(?:\\n|$)`,
  "y",
);

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Maximum length of a file, in characters. */
const MAX_LENGTH = 1024 * 1024;

/**
 * Parses lines of `NAME=value`. Skips blank lines, `#` comments and a leading `export`. A value in
 * quotes may have several lines. Escapes such as `\n` work in double quotes only; nothing is
 * expanded. Throws `invalid_config` naming the line, never its value, and for a file over 1 MiB.
 */
export function parseDotenv(content: string, file: string): Record<string, string> {
  if (content.length > MAX_LENGTH) {
    throw new ProcsupError("invalid_config", `Invalid "${file}": it is larger than 1 MiB`);
  }
  const text = content.replaceAll("\r\n", "\n");
  const variables: Record<string, string> = {};
  for (let at = 0; at < text.length; at = ENTRY.lastIndex) {
    ENTRY.lastIndex = at;
    const entry = ENTRY.exec(text);
    if (entry === null) {
      const line = text.slice(0, at).split("\n").length;
      throw new ProcsupError(
        "invalid_config",
        `Invalid line ${line} in "${file}": expected NAME=value`,
      );
    }
    const [, name, double, single, plain] = entry;
    if (name === undefined) continue;
    variables[name] = single ?? double?.replace(/\\([^])/g, (_, c: string) => ESCAPES[c] ?? c) ??
      withoutComment(plain!);
  }
  return variables;
}

function withoutComment(value: string): string {
  const comment = value.search(/\s#/);
  return (comment < 0 ? value : value.slice(0, comment)).trim();
}
