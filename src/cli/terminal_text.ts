/**
 * Text of apps made safe for a terminal: an app's output must not move the cursor, set the title
 * or answer for the user.
 */

/**
 * In this order: strings that run to their terminator (OSC, DCS, SOS, PM, APC), control sequences,
 * other escapes, lone control characters. Each also in its 8-bit form. All but tab and newline.
 */
const CONTROLS = new RegExp(
  [
    "(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^]*?(?:\\x07|\\x1b\\\\|\\x9c|$)",
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?",
    "\\x1b[ -/]*[0-~]?",
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]",
  ].join("|"),
  "g",
);

// deno-lint-ignore no-control-regex
const COLOR = /^\x1b\[[0-9;:]*m$/;

const RESET = "\x1b[0m";

/** Text without any control sequence or control character but tab and newline. */
export function plainText(text: string): string {
  return text.replace(CONTROLS, "");
}

/** As `plainText`, but colours stay and end with the text. */
export function colorText(text: string): string {
  let colored = false;
  const kept = text.replace(CONTROLS, (sequence) => {
    if (!COLOR.test(sequence)) return "";
    colored = true;
    return sequence;
  });
  return colored ? kept + RESET : kept;
}
