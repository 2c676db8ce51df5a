/** Finds references to variables in a text: `${NAME}`, `${NAME:-default}`, nested in defaults. */

/** How many references may be nested. */
const MAX_DEPTH = 32;

export interface ReferenceReader {
  /** What replaces `${…}`, given the text inside and how deep it is nested. */
  readonly braced: (inside: string, depth: number) => string;
  /** What replaces `$NAME`; without it, that is left as it is. */
  readonly bare?: (name: string) => string;
}

const BARE = /[A-Za-z_]\w*/y;

/**
 * Replaces the references in a text; `$$` becomes `$`. An unclosed `${` and all after it stay.
 * Throws an `Error` that quotes nothing: the text may hold a secret.
 */
export function replaceReferences(
  text: string,
  { braced, bare }: ReferenceReader,
  depth = 0,
): string {
  if (depth > MAX_DEPTH) throw new Error(`\${…} is nested more than ${MAX_DEPTH} times`);
  let replaced = "";
  let at = 0;
  for (let next = text.indexOf("$"); next >= 0; next = text.indexOf("$", at)) {
    replaced += text.slice(at, next);
    at = next + 1;
    if (text[at] === "$") {
      replaced += "$";
      at++;
    } else if (text[at] === "{") {
      const end = closingBrace(text, at + 1);
      if (end === undefined) return replaced + unclosed(text.slice(next));
      replaced += braced(text.slice(at + 1, end), depth);
      at = end + 1;
    } else {
      BARE.lastIndex = at;
      const name = bare && BARE.exec(text)?.[0];
      replaced += name === undefined ? "$" : bare!(name);
      at += name?.length ?? 0;
    }
  }
  return replaced + text.slice(at);
}

function unclosed(rest: string): string {
  if (rest.includes("}")) throw new Error("${…} is not closed: a } is missing");
  return rest.replaceAll("$$", "$");
}

/** Changes each closed `${…}` as a whole. Everything else stays as it is. */
export function mapReferences(text: string, map: (reference: string) => string): string {
  let mapped = "";
  let at = 0;
  for (let next = text.indexOf("$"); next >= 0; next = text.indexOf("$", at)) {
    const end = text[next + 1] === "{" ? closingBrace(text, next + 2) : undefined;
    if (text[next + 1] === "{" && end === undefined) break;
    const to = end === undefined ? next + 2 : end + 1;
    const part = text.slice(next, to);
    mapped += text.slice(at, next) + (end === undefined ? part : map(part));
    at = to;
  }
  return mapped + text.slice(at);
}

/** The position of the `}` that closes a reference whose inside begins at `from`. */
function closingBrace(text: string, from: number): number | undefined {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "}" && --open === 0) return at;
    if (text[at] !== "$") continue;
    if (text[at + 1] === "{") open++;
    // `$$` is a `$`, whatever follows.
    if (text[at + 1] === "{" || text[at + 1] === "$") at++;
  }
  return undefined;
}
