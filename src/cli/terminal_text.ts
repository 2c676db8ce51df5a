/** The one way of text to a terminal: nothing in it moves the cursor, sets a title or hides words. */

import { CONTROLS, plainText } from "../model/plain_text.ts";

// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

// deno-lint-ignore no-control-regex
const COLOR = /^\x1b\[[0-9;:]*m$/;

const RESET = "\x1b[0m";

/** Text that a terminal may get; `color` keeps its colours. */
export function terminalText(text: string, color: boolean): string {
  if (!CONTROL.test(text)) return text;
  // Line by line: a sequence that is never ended hides no more than the rest of its line.
  return text.split("\n").map(color ? colorText : plainText).join("\n");
}

/** As `plainText`, but colours stay and end with the text. */
export function colorText(text: string): string {
  let colored = false;
  const kept = text.replace(CONTROLS, (sequence) => {
    if (!COLOR.test(sequence)) return "";
    colored = sequence !== RESET;
    return sequence;
  });
  return colored ? kept + RESET : kept;
}

/** JSON that says the same and holds no control character: JSON itself leaves some as they are. */
export function terminalJson(json: string): string {
  return json.replace(
    /[\x7f-\x9f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
}
