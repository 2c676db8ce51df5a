/** Parses JSON from clients. Pure. */

import { messageOf, ProcsupError } from "../model/errors.ts";

/** Maximum nesting of a value; deeper ones could overflow the stack. */
const MAX_DEPTH = 64;

/** Parses a JSON text. Throws `bad_request` if it is invalid or nested too deeply. */
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
