/** Reads JSON, with or without comments, into a document with positions. */

import { type Node, parseTree, printParseErrorCode, visit } from "jsonc-parser";
import { type ConfigDocument, type Path, placeAt, Places } from "./document.ts";
import { ConfigProblem } from "./problem.ts";

const MAX_DEPTH = 100;

/** Messages by error code of jsonc-parser. They do not quote the text, which may be secret. */
const MISTAKES: Readonly<Record<string, string>> = {
  InvalidSymbol: "text needs double quotes",
  InvalidNumberFormat: "expected a number",
  PropertyNameExpected: "expected a key in double quotes",
  ValueExpected: "expected a value",
  ColonExpected: 'expected ":" after the key',
  CommaExpected: 'expected ","',
  CloseBraceExpected: 'expected "," or "}"',
  CloseBracketExpected: 'expected "," or "]"',
  EndOfFileExpected: "something follows after the end",
  InvalidCommentToken: "a comment needs a file name in .jsonc",
  UnexpectedEndOfComment: "this comment has no end",
  UnexpectedEndOfString: "this text has no end",
  UnexpectedEndOfNumber: "this number has no end",
  InvalidUnicode: "expected four hexadecimal digits after \\u",
  InvalidEscapeCharacter: 'expected one of "\\/bfnrtu after \\',
  InvalidCharacter: "a control character needs an escape, such as \\t",
};

/** Reads JSON; `comments` allows comments and trailing commas. Throws `ConfigProblem`. */
export function readJson(file: string, text: string, comments = false): ConfigDocument {
  const fail = (what: string, offset: number): never => {
    const place = placeAt(file, text, offset);
    throw new ConfigProblem(file, `not valid JSON: ${what}`, { place });
  };
  const json = text.replace(/^\ufeff/, " ");
  const options = { disallowComments: !comments, allowTrailingComma: comments };
  let depth = 0;
  const enter = (offset: number) => {
    if (++depth > MAX_DEPTH) fail("nested too deeply", offset);
  };
  const leave = () => void depth--;
  visit(json, {
    ...{ onObjectBegin: enter, onArrayBegin: enter, onObjectEnd: leave, onArrayEnd: leave },
    onError: (code, offset) => fail(mistakeAt(json, offset, code), offset),
  }, options);
  const places = new Places();
  return { file, text, value: valueOf(parseTree(json, [], options)!, [], places, fail), places };
}

function mistakeAt(json: string, offset: number, code: number): string {
  const isClosing = json[offset] === "}" || json[offset] === "]";
  if (isClosing && json.slice(0, offset).trimEnd().endsWith(",")) {
    return 'a "," at the end needs a file name in .jsonc';
  }
  const isEnd = json.slice(offset).trim() === "";
  const what = MISTAKES[printParseErrorCode(code)]!;
  return isEnd && what === MISTAKES.ValueExpected ? "it ends too early" : what;
}

function valueOf(
  node: Node,
  path: Path,
  places: Places,
  fail: (what: string, offset: number) => never,
): unknown {
  const { type, offset, length, children = [] } = node;
  places.values.set(path, { offset, length });
  if (type === "array") {
    return children.map((item, index) => valueOf(item, [...path, index], places, fail));
  }
  if (type !== "object") return node.value;
  const entries = new Map<string, unknown>();
  for (const { children: [key, value] = [] } of children) {
    const { value: name, offset, length } = key!;
    if (entries.has(name)) fail(`duplicate key ${JSON.stringify(name)}`, offset);
    const inner = [...path, name];
    places.keys.set(inner, { offset, length });
    entries.set(name, valueOf(value!, inner, places, fail));
  }
  // fromEntries() makes "__proto__" an ordinary key.
  return Object.fromEntries(entries);
}
