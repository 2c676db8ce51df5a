/** Parses and writes the command lines of shells, and words in the settings of systemd units. */

import { mapReferences, type ReferenceReader, replaceReferences } from "./references.ts";

/** Shell words and builtins that `exec` cannot run. */
const BUILTIN =
  /^(if|for|while|until|case|cd|export|\.|source|exit|ulimit|umask|set|eval|exec|trap|wait|test|command|type|read|unset|alias|\[|!|\{|\()(\s|$)/;

/** Runs a shell line with `/bin/sh`, with `exec` in front if possible. */
export function shellCommand(line: string): { entrypoint: string; args: string[] } {
  return { entrypoint: "/bin/sh", args: ["-c", withExec(line.trim())] };
}

function withExec(line: string): string {
  const bare = line.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./g, "x");
  // Keep an unclosed `${` and everything after it.
  const simple = bare.replace(/\$\{[^}]*(\}|$)|\d?>&\d/g, (whole, end) => end === "" ? whole : "x");
  if (/[;&|\n(){}`]/.test(simple) || BUILTIN.test(line)) {
    return line;
  }
  return /^[A-Za-z_]\w*=/.test(line) ? `exec env ${line}` : `exec ${line}`;
}

/**
 * What needs a shell: operators, patterns, comments, `$VAR`, a variable before the command. An
 * unclosed quote goes to the shell too, which reports it.
 */
const SHELL = /[;&|<>()`*?[\]\n'"\\]|\$(?!\{)|(^|\s)[#~]|^[A-Za-z_]\w*=/;

/**
 * Splits a line into entrypoint and arguments, or uses `/bin/sh` if it needs a shell. `${…}` stays
 * as it is: the file that holds the line fills it in.
 */
export function commandOf(line: string): { entrypoint: string; args: string[] } {
  const bare = line.trim().replace(/'[^']*'|"(?:[^"\\$`]|\\.|\$\{)*"|\\./g, "x");
  if (SHELL.test(bare) || BUILTIN.test(line.trim())) return shellCommand(line);
  const [entrypoint = "", ...args] = splitWords(mapReferences(line, withoutSpaces)).map(withSpaces);
  return { entrypoint, args };
}

/** Spaces in a default do not separate words: characters for private use stand for them. */
const PRIVATE = 0xe000;

function withoutSpaces(reference: string): string {
  return reference.replace(/\s/g, (space) => String.fromCharCode(PRIVATE + space.charCodeAt(0)));
}

function withSpaces(word: string): string {
  const code = (character: string) => character.charCodeAt(0) - PRIVATE;
  return word.replace(/[\ue000-\ue020]/g, (space) => String.fromCharCode(code(space)));
}

/** Splits a line into words as a shell would, honoring quotes and backslashes. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:[^\s"'\\]|\\[^]|"(?:[^"\\]|\\[^])*"|'[^']*')+/g)) {
    words.push(
      word.replace(
        /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])/g,
        (_, single?: string, double?: string, escaped?: string) =>
          single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? "",
      ),
    );
  }
  return words;
}

/** A word for a POSIX shell, between quotes if it needs them. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : singleQuoted(word);
}

export function singleQuoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Quotes a word with references for a unit of systemd, which fills in `${VAR}` too, but has no
 * `${VAR:-default}`.
 */
export function referringWord(text: string): string {
  const reader: ReferenceReader = {
    braced: (inside, depth) => {
      const [, name, fallback] = /^([^:]+)(?::-([^]*))?$/.exec(inside) ?? [];
      return fallback === undefined
        ? `${DOLLAR}{${name}}`
        : replaceReferences(fallback, reader, depth + 1);
    },
  };
  const filled = replaceReferences(text, reader).replaceAll("$", "$$$$").replaceAll(DOLLAR, "$");
  return quoted(specifiers(filled));
}

/** Placeholder for the `$` of references; a configuration has no NUL. */
const DOLLAR = "\0";

/** Escapes `%`, which begins a specifier in nearly every setting of a unit. */
export function specifiers(text: string): string {
  return text.replace(/%/g, "%%");
}

/** A word of a command line in a unit, where `$` begins a variable, unlike in other settings. */
export function commandWord(word: string, always = false): string {
  return quoted(specifiers(word).replace(/\$/g, "$$$$"), always);
}

/** A word of a unit between quotes if it needs them, or `always`. */
export function quoted(text: string, always = false): string {
  return !always && /^[\w@%+=:,./${}-]+$/.test(text) ? text : JSON.stringify(text);
}
