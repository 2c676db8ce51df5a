/** Makes text safe for a terminal: it cannot move the cursor, set a title, hide or reorder words. */

import { CONTROLS, plainText } from "../model/plain_text.ts";

// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

// deno-lint-ignore no-control-regex
const COLOR = /^\x1b\[[0-9;:]*m$/;

const RESET = "\x1b[0m";

/** Removes control sequences from text; `color` keeps its colours. */
export function terminalText(text: string, color: boolean): string {
  if (!CONTROL.test(text)) return text;
  // Line by line: an unterminated sequence hides only the rest of its line.
  return text.split("\n").map(color ? colorText : plainText).join("\n");
}

/** Like `plainText`, but keeps colours and resets them at the end. */
export function colorText(text: string): string {
  let colored = false;
  const kept = text.replace(CONTROLS, (sequence) => {
    if (!COLOR.test(sequence)) return "";
    colored = sequence !== RESET;
    return sequence;
  });
  return colored ? kept + RESET : kept;
}

/** Escapes the characters of `CONTROLS` that `JSON.stringify` leaves as they are. */
export function terminalJson(json: string): string {
  return json.replace(
    /[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
