/** JSON as clients send it. Pure. */

import { messageOf, ProcsupError } from "../model/errors.ts";

/** How deep a value may be nested: no honest one comes near, and others would fill the stack. */
const MAX_DEPTH = 64;

/** The value of a JSON text. Throws `bad_request` when it is none, or is nested too deep. */
export function parseJson(text: string): unknown {
  refuseDeep(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ProcsupError("bad_request", `The body is not JSON: ${messageOf(error)}`);
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

function refuseDeep(text: string): void {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (quoted && char === BACKSLASH) i++;
    else if (char === QUOTE) quoted = !quoted;
    else if (quoted) continue;
    else if (CLOSING.has(char)) depth--;
    else if (OPENING.has(char) && ++depth > MAX_DEPTH) {
      throw new ProcsupError("bad_request", `The body is nested more than ${MAX_DEPTH} deep`);
    }
  }
}
