/**
 * Globs: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, and `**` for any number of folders. They are not
 * compiled to regular expressions: `*a*a*a*b` would take years on some names. Pure.
 */

import { ProcsupError, quote } from "./errors.ts";

type NameTest = (name: string) => boolean;

/** Maximum number of globs that braces may expand to. */
const MAX_ALTERNATIVES = 256;

const STAR = Symbol("*");

/** A test for one character or path part; `STAR` matches any number of them. */
type Token = typeof STAR | NameTest;

/**
 * Compiles a glob for paths. The test also holds for everything below a matching path. Throws
 * `invalid_config` if its braces expand to too many globs.
 */
export function pathTest(glob: string): NameTest {
  const all = alternatives(glob).map((one) =>
    one.split("/").map((part) => part === "**" ? STAR : nameTest(part))
  );
  return (path) => {
    const parts = path.split("/");
    return all.some((tests) => matches(tests, parts, true));
  };
}

/** Compiles a glob for one name, without `{…}`. */
export function nameTest(glob: string): NameTest {
  if (!/[*?[\\]/.test(glob)) return (name) => name === glob;
  const tokens = tokensOf(glob);
  return (name) => matches(tokens, name, false);
}

/** Backtracks only to the last star: the matches of earlier stars never have to change. */
function matches(
  tokens: readonly Token[],
  items: string | readonly string[],
  isPrefixEnough: boolean,
): boolean {
  let [token, item, star, starItem] = [0, 0, -1, 0];
  while (item < items.length) {
    const wanted = tokens[token];
    if (wanted === undefined && isPrefixEnough) return true;
    if (wanted === STAR) [star, starItem] = [token++, item];
    else if (wanted?.(items[item]!)) [token, item] = [token + 1, item + 1];
    else if (star >= 0) [token, item] = [star + 1, ++starItem];
    else return false;
  }
  while (tokens[token] === STAR) token++;
  return token === tokens.length;
}

function tokensOf(glob: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]!;
    const end = character === "["
      ? glob.indexOf("]", at + (/^[!^]/.test(glob[at + 1] ?? "") ? 3 : 2))
      : -1;
    if (character === "*") tokens.push(STAR);
    else if (character === "?") tokens.push(() => true);
    else if (end > 0) {
      tokens.push(classTest(glob.slice(at + 1, end)));
      at = end;
    } else {
      const literal = character === "\\" ? glob[++at] ?? "\\" : character;
      tokens.push((name) => name === literal);
    }
  }
  return tokens;
}

/** Compiles a class such as `a-z_`; a leading `!` or `^` negates it. */
function classTest(text: string): NameTest {
  const not = /^[!^]/.test(text);
  const bare = not ? text.slice(1) : text;
  const ranges: [string, string][] = [];
  for (let at = 0; at < bare.length; at++) {
    const isRange = bare[at + 1] === "-" && at + 2 < bare.length;
    ranges.push([bare[at]!, bare[isRange ? at + 2 : at]!]);
    if (isRange) at += 2;
  }
  return (name) => ranges.some(([from, to]) => name >= from && name <= to) !== not;
}

/** Expands `a.{js,css}` to `a.js` and `a.css`. Braces may be nested; unclosed ones are literal. */
function alternatives(glob: string): string[] {
  const done: string[] = [];
  const left = [glob];
  while (left.length > 0) {
    if (left.length + done.length > MAX_ALTERNATIVES) {
      throw new ProcsupError("invalid_config", `Invalid glob ${quote(glob)}: it has too many {…}`);
    }
    const one = left.pop()!;
    const braces = firstBraces(one);
    if (braces === undefined) done.push(one);
    else for (const choice of braces.choices) left.push(braces.before + choice + braces.after);
  }
  return done;
}

function firstBraces(glob: string) {
  const start = glob.indexOf("{");
  const choices: string[] = [];
  let [depth, from] = [0, start + 1];
  for (let at = start; at >= 0 && at < glob.length; at++) {
    const character = glob[at];
    if (character === "{") depth++;
    if (character === "}") depth--;
    if (depth === 0 || (depth === 1 && character === ",")) {
      choices.push(glob.slice(from, at));
      from = at + 1;
    }
    if (depth === 0) return { before: glob.slice(0, start), choices, after: glob.slice(from) };
  }
  return undefined;
}
