/** Text of apps made safe for a terminal, with its colours. Without them: `model/plain_text.ts`. */

import { CONTROLS } from "../model/plain_text.ts";

// deno-lint-ignore no-control-regex
const COLOR = /^\x1b\[[0-9;:]*m$/;

const RESET = "\x1b[0m";

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
