/** Command lines as a shell has them. */

/** Words of the shell that `exec` cannot run. */
const BUILTIN =
  /^(if|for|while|until|case|cd|export|\.|source|exit|ulimit|umask|set|eval|exec|trap|wait|test|command|type|read|unset|alias|\[|!|\{|\()(\s|$)/;

/** A shell line as entrypoint and arguments, with `exec` if possible. */
export function shellCommand(line: string): { entrypoint: string; args: string[] } {
  return { entrypoint: "/bin/sh", args: ["-c", withExec(line.trim())] };
}

function withExec(line: string): string {
  const bare = line.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./g, "x");
  // A `${` that is never closed stays, with all behind it.
  const simple = bare.replace(/\$\{[^}]*(\}|$)|\d?>&\d/g, (whole, end) => end === "" ? whole : "x");
  if (/[;&|\n(){}`]/.test(simple) || BUILTIN.test(line)) {
    return line;
  }
  return /^[A-Za-z_]\w*=/.test(line) ? `exec env ${line}` : `exec ${line}`;
}

/**
 * What only a shell does: operators, patterns, comments, `$VAR`, a variable before the command; and a
 * quote that is never closed, about which the shell complains.
 */
const SHELL = /[;&|<>()`*?[\]\n'"\\]|\$(?!\{)|(^|\s)[#~]|^[A-Za-z_]\w*=/;

/**
 * A line as entrypoint and arguments: its words, or `/bin/sh` where it needs a shell. A `${…}` stays in
 * its word: the file that holds the line fills it in.
 */
export function commandOf(line: string): { entrypoint: string; args: string[] } {
  const bare = line.trim().replace(/'[^']*'|"(?:[^"\\$`]|\\.|\$\{)*"|\\./g, "x");
  if (SHELL.test(bare) || BUILTIN.test(line.trim())) return shellCommand(line);
  const [entrypoint = "", ...args] = splitWords(line);
  return { entrypoint, args };
}

/** The words of a line that is run without a shell, with quotes and backslashes. */
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
