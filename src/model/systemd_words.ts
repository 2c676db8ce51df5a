/** Words in the settings of systemd units. */

/** Quotes a word with references. systemd fills in `${VAR}` too, but has no `${VAR:-default}`. */
export function referringWord(text: string): string {
  const filled = text.replace(
    /\$\$?(?!\{)|\$\{([^}:]+)(?::-([^}]*))?\}/g,
    (_, name, fallback) =>
      name === undefined ? "$$" : fallback?.replaceAll("$", "$$$$") ?? `\${${name}}`,
  );
  return quoted(specifiers(filled));
}

/** Escapes `%`, which begins a specifier in nearly every setting. */
export function specifiers(text: string): string {
  return text.replace(/%/g, "%%");
}

/** A word of a command line, where `$` begins a variable, unlike in other settings. */
export function commandWord(word: string, always = false): string {
  return quoted(specifiers(word).replace(/\$/g, "$$$$"), always);
}

/** A word between quotes if it needs them, or `always`. */
export function quoted(text: string, always = false): string {
  return !always && /^[\w@%+=:,./${}-]+$/.test(text) ? text : JSON.stringify(text);
}
