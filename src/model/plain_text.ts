/**
 * Makes app output safe to display: it cannot move the cursor, set a title, hide or reorder text.
 * Also escapes text for a regular expression.
 */

/**
 * Matches, in this order: strings up to their terminator (OSC, DCS, SOS, PM, APC), control
 * sequences, other escapes, single control characters; each also in its 8-bit form; and the
 * characters that make a line read in another order than it was written. Tabs and newlines do not
 * match.
 */
export const CONTROLS: RegExp = new RegExp(
  [
    "(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^]*?(?:\\x07|\\x1b\\\\|\\x9c|$)",
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?",
    "\\x1b[ -/]*[0-~]?",
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]",
  ].join("|"),
  "g",
);

/** Removes control sequences and control characters, except tab and newline. */
export function plainText(text: string): string {
  return isPrintableAscii(text) ? text : text.replace(CONTROLS, "");
}

/** Whether it is one line of printable ASCII. */
export function isPrintableAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

/**
 * The first characters of a longer text, and `…`. Cuts no character in two: some readers of JSON
 * refuse half of one.
 */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

/** Escapes a text for a regular expression. */
export function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** A phrase as the rest of a sentence: its first letter is small, unless it begins with a name in capitals. */
export function lowered(text: string): string {
  return text.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}
