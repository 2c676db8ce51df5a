/**
 * Makes app output safe to display: it cannot move the cursor, set a title, hide or reorder text.
 * Also escapes text for a regular expression.
 */

/**
 * The one list of characters that are never shown: controls except tab and newline, other ends of
 * lines, and characters that make a line read in another order than it was written.
 */
const UNSAFE =
  "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]";

/** Whether a text has a character of that list. */
export function isUnsafe(text: string): boolean {
  return UNSAFE_ONE.test(text);
}

const UNSAFE_ONE = new RegExp(UNSAFE);
const UNSAFE_ALL = new RegExp(UNSAFE, "g");

/** Escapes the characters of that list as JSON does: `JSON.stringify` leaves some as they are. */
export function escapedJson(json: string): string {
  return json.replace(
    UNSAFE_ALL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Matches, in this order: strings up to their terminator (OSC, DCS, SOS, PM, APC), control
 * sequences, other escapes; each also in its 8-bit form; and the characters of that list.
 */
export const CONTROLS: RegExp = new RegExp(
  [
    "(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^]*?(?:\\x07|\\x1b\\\\|\\x9c|$)",
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?",
    "\\x1b[ -/]*[0-~]?",
    UNSAFE,
  ].join("|"),
  "g",
);

/** Removes control sequences and control characters, except tab and newline. */
export function plainText(text: string): string {
  return isPrintableAscii(text) ? text : text.replace(CONTROLS, "");
}

// deno-lint-ignore no-control-regex
const COLOR = /^\x1b\[([0-9;:]*)m$/;

const RESET = "\x1b[0m";

/** Like `plainText`, but keeps colours and resets them at the end. No colour conceals text. */
export function colorText(text: string): string {
  let colored = false;
  const kept = text.replace(CONTROLS, (sequence) => {
    const codes = COLOR.exec(sequence)?.[1];
    if (codes === undefined || conceals(codes)) return "";
    colored = sequence !== RESET;
    return sequence;
  });
  return colored ? kept + RESET : kept;
}

/** Whether the codes of a colour hide the text: 8, unless it is a part of a colour's number. */
function conceals(codes: string): boolean {
  const rest = codes.replace(/(^|;)0*[345]8;0*(5;\d*|2;\d*;\d*;\d*)(?=;|$)/g, "$1");
  return /(^|;)0*8(;|$)/.test(rest);
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
