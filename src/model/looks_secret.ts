/** Recognizes secrets by their names and their text. */

/** Names and values that look like secrets. */
const SECRET_NAME =
  /pass(word|wd|phrase)?|secret|token|credential|(api|private|access)_?key|_key$|dsn$/i;
const SECRET_VALUE = /:\/\/[^/\s:@]*:[^/\s@]+@|-----BEGIN/;

/** True if a literal value of a variable may be a secret. */
export function looksSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}

/** A secret in a command line: `--token=…`, `password: …`, `Bearer …`, but not a reference. */
const SECRET_TEXT =
  /(pass(word|wd|phrase)|secret|token|credential|api[-_]?key|bearer)["']?\s*[=:\s]\s*["']?[^\s"'$]/i;

/** True if the words of a command may contain a secret. */
export function holdsSecret(text: string): boolean {
  return SECRET_TEXT.test(text) || SECRET_VALUE.test(text);
}
