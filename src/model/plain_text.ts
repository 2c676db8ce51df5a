/** Text of apps made safe to show: without what moves a cursor, sets a title or hides words. */

/**
 * In this order: strings that run to their terminator (OSC, DCS, SOS, PM, APC), control sequences,
 * other escapes, lone control characters. Each also in its 8-bit form. All but tab and newline.
 */
export const CONTROLS: RegExp = new RegExp(
  [
    "(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^]*?(?:\\x07|\\x1b\\\\|\\x9c|$)",
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?",
    "\\x1b[ -/]*[0-~]?",
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]",
  ].join("|"),
  "g",
);

/** Text without any control sequence or control character but tab and newline. */
export function plainText(text: string): string {
  return isPrintableAscii(text) ? text : text.replace(CONTROLS, "");
}

/** Whether it is one line of ASCII that any terminal shows as it is. */
export function isPrintableAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}
