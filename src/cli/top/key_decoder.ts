/** What a terminal sends for keys → keys by name. Pure. */

/** Something that a person did: a key (`up`, `enter`, `ctrl-l`, or the character), or a paste. */
export type Input =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "paste"; readonly text: string };

const FINALS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  Z: "backtab",
};

const NUMBERED: Readonly<Record<string, string>> = {
  1: "home",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
};

const CONTROLS: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
};

const PASTE_BEGINS = "\x1b[200~";
const PASTE_ENDS = "\x1b[201~";
const MAX_PASTE = 64 * 1024;

/**
 * The keys of a text, and the rest that is not complete yet. With `final` nothing is to follow: an
 * escape character that stands alone was the key.
 */
export function decodeKeys(text: string, final = false): { keys: Input[]; rest: string } {
  const keys: Input[] = [];
  let rest = text;
  while (rest !== "") {
    const step = rest[0] === "\x1b" ? escaped(rest, final) : plain(rest);
    if (step === undefined) break;
    if (step.input !== undefined) keys.push(step.input);
    rest = (step.again ?? "") + rest.slice(step.length);
  }
  return { keys, rest };
}

interface Step {
  readonly length: number;
  readonly input?: Input;
  /** What the rest goes on with. */
  readonly again?: string;
}

function plain(text: string): Step {
  const character = String.fromCodePoint(text.codePointAt(0)!);
  const { length } = character;
  const named = CONTROLS[character];
  if (named !== undefined) return key(named, length);
  const code = character.charCodeAt(0);
  if (code < 0x20) return key(`ctrl-${String.fromCharCode(code + 0x60)}`, length);
  return code >= 0x80 && code < 0xa0 ? { length } : key(character, length);
}

/** Undefined where the sequence is not complete. */
function escaped(text: string, final: boolean): Step | undefined {
  if (text.startsWith(PASTE_BEGINS)) return pasted(text);
  // deno-lint-ignore no-control-regex
  const [sequence, letter, digits, end] = /^\x1b(?:O([A-Za-z])|\[([0-?]*)[ -/]*([@-~]))/
    .exec(text) ?? [];
  if (sequence !== undefined) {
    const name = letter !== undefined
      ? FINALS[letter]
      : end === "~"
      ? NUMBERED[digits!.split(";")[0]!]
      : FINALS[end!];
    return name === undefined ? { length: sequence.length } : key(name, sequence.length);
  }
  if (text.length === 1) return final ? key("escape", 1) : undefined;
  // Begun, and nothing to go on with: dropped as a whole when the time is over.
  if (text[1] === "[" || text[1] === "O") return final ? { length: text.length } : undefined;
  if (text[1] === "\x1b") return key("escape", 1);
  const next = String.fromCodePoint(text.codePointAt(1)!);
  return key(`alt-${next}`, 1 + next.length);
}

/**
 * Over only with its end, however long that takes to come: the rest of a paste must not be taken for
 * keys, each of which does something. A long one is handed on in parts.
 */
function pasted(text: string): Step | undefined {
  const from = PASTE_BEGINS.length;
  const end = text.indexOf(PASTE_ENDS, from);
  if (end >= 0) {
    return { length: end + PASTE_ENDS.length, input: paste(text.slice(from, end)) };
  }
  if (text.length < MAX_PASTE) return undefined;
  // Its end may have begun.
  const length = text.length - PASTE_ENDS.length;
  return { length, input: paste(text.slice(from, length)), again: PASTE_BEGINS };
}

function paste(text: string): Input {
  return { type: "paste", text };
}

function key(name: string, length: number): Step {
  return { length, input: { type: "key", key: name } };
}
