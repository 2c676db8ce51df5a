/** Words that a person, or a script, gives to a shell. */

/** A word for a POSIX shell, between quotes where it needs them. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}
