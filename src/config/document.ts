/** A parsed configuration file: its value, and the position of each part in the text. */

import { mayBeSecret } from "../model/key_table.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { WEBHOOK_KEYS } from "../model/settings_keys.ts";

/** Path to a part of a document: keys and list indexes. */
export type Path = readonly (string | number)[];

export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** Values by path. */
class PathMap<T> {
  readonly #map = new Map<string, T>();

  get(path: Path): T | undefined {
    return this.#map.get(JSON.stringify(path));
  }

  set(path: Path, value: T): void {
    this.#map.set(JSON.stringify(path), value);
  }
}

/** Positions of the parts of a document. */
export class Places {
  readonly keys = new PathMap<Span>();
  readonly values = new PathMap<Span>();
  /** The path of the value that an alias stands for. */
  readonly aliases = new PathMap<Path>();

  /** The position where a value is written: for a value from an alias or a merge, that of the anchor. */
  source(path: Path): Span | undefined {
    const own = this.aliases.get(path) === undefined ? this.values.get(path) : undefined;
    if (own !== undefined) return own;
    let at: Path | undefined = [];
    for (const part of path) at = at && this.#inside(at, part, new Set());
    return at && this.values.get(at);
  }

  /** The written path of a part of the map or list at `parent`. `tried` avoids repeated merges. */
  #inside(parent: Path, part: string | number, tried: Set<string>): Path | undefined {
    const own = this.#target([...parent, part]);
    if (own !== undefined) return own;
    const id = JSON.stringify(parent);
    if (tried.has(id)) return undefined;
    tried.add(id);
    const merged = [...parent, "<<"];
    const from = [this.#target(merged)];
    for (let index = 0; from.at(-1) !== undefined; index++) {
      from.push(this.#target([...merged, index]));
    }
    for (const map of from) {
      const found = map && this.#inside(map, part, tried);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The path that a value is written at; undefined if there is no such value. */
  #target(path: Path): Path | undefined {
    return this.values.get(path) && (this.aliases.get(path) ?? path);
  }
}

export interface ConfigDocument {
  /** Absolute path. */
  readonly file: string;
  /** `""` if the value did not come from text. */
  readonly text: string;
  readonly value: unknown;
  readonly places: Places;
  /** The variables that a program set in its own environment, as dotenv does. Only of a program. */
  readonly set?: Readonly<Record<string, string>>;
  /** Set if it was converted from another tool's file: where each key comes from. */
  readonly origins?: Origins;
}

/** Where a key of a converted process comes from; undefined if it was not in the other tool's file. */
export type Origins = (process: string, key: string) => Origin | undefined;

/** A key of another tool's file, and its place there. */
export interface Origin {
  /** Undefined if the converter added the key by itself. */
  readonly key: string | undefined;
  readonly place: Place | undefined;
}

/** A position in a file, counted from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The part of the line to show in messages; it contains no value that may be secret. */
  readonly excerpt?: Excerpt;
}

/** Part of a line, with the position of the mistake in it. */
export interface Excerpt {
  readonly text: string;
  readonly from: number;
  readonly length: number;
}

/** The place of an offset in a text, without an excerpt: the value may be secret. */
export function placeAt(file: string, text: string, offset: number): Place {
  const { start } = lineAround(text, offset);
  return { file, line: lineOf(text, start), column: offset - start + 1 };
}

/** Start and end of the line that contains an offset. */
function lineAround(
  text: string,
  offset: number,
): { readonly start: number; readonly end: number } {
  const newline = text.indexOf("\n", offset);
  const end = newline < 0 ? text.length : newline;
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return { start, end: end > start && text[end - 1] === "\r" ? end - 1 : end };
}

/** The key and value of a line, without the text around them. */
function excerptOf(text: string, place: Span, parts: readonly (Span | undefined)[]): Excerpt {
  const { start, end } = lineAround(text, place.offset);
  const inLine = parts.filter((part) => part !== undefined)
    .filter(({ offset }) => offset >= start && offset <= end);
  const from = Math.min(place.offset, ...inLine.map(({ offset }) => offset));
  const to = Math.min(end, Math.max(...inLine.map(({ offset, length }) => offset + length)));
  const before = text.slice(start, from);
  const head = before.trim() === "" ? before : "… ";
  const tail = text.slice(to, end).trim() === "" ? "" : " …";
  return {
    text: head + text.slice(from, to) + tail,
    from: head.length + place.offset - from,
    length: Math.max(1, Math.min(place.length, to - place.offset)),
  };
}

/** The last position that was counted. Mistakes of a text come roughly in order. */
let known = { text: "", offset: 0, line: 1 };

/** The line number of an offset, counted from the last one: thousands of mistakes stay fast. */
function lineOf(text: string, offset: number): number {
  if (known.text !== text) known = { text, offset: 0, line: 1 };
  const [from, to] = [Math.min(known.offset, offset), Math.max(known.offset, offset)];
  let between = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) {
    between++;
  }
  const line = known.line + (offset < known.offset ? -between : between);
  known = { text, offset, line };
  return line;
}

/** The place of a part of a document, or of its nearest parent with a known position. */
export function placeIn(
  document: ConfigDocument,
  path: Path,
  what: "key" | "value" = "value",
): Place | undefined {
  const { file, text, places } = document;
  for (let length = path.length; length >= 0; length--) {
    const part = path.slice(0, length);
    const exact = length === path.length;
    const [key, value] = [places.keys.get(part), places.values.get(part)];
    const span = exact && what === "value" ? value ?? key : key ?? value;
    if (span === undefined) continue;
    const isShown = span === value && !isSecretive(part, valueAt(document.value, part)) &&
      typeof valueAt(document.value, part) !== "object";
    const place = placeAt(file, text, span.offset);
    if (!isShown && key === undefined) return place;
    const excerpt = excerptOf(text, isShown ? span : key!, isShown ? [key, span] : [key]);
    return { ...place, excerpt };
  }
  return undefined;
}

/** Whether a value may be a secret. The keys of processes and webhooks may begin anywhere in a path. */
function isSecretive(path: Path, value: unknown): boolean {
  return path.some((_, start) =>
    [PROCESS_KEYS, WEBHOOK_KEYS].some((table) => mayBeSecret(table, path.slice(start), value))
  );
}

/** The value at a path; undefined if the path does not exist. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}
