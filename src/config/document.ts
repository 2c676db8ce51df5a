/** A configuration file that was read: its value, and the position of each part in the text. */

/** The path to a part of a document: keys and indexes. */
export type Path = readonly (string | number)[];

/** A range of text. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** Positions of the parts of a document. */
export class Places {
  readonly #keys = new Map<string, Span>();
  readonly #values = new Map<string, Span>();

  /** Sets the position of the key at the end of a path. */
  setKey(path: Path, span: Span): void {
    this.#keys.set(JSON.stringify(path), span);
  }

  /** Sets the position of the value at a path. */
  setValue(path: Path, span: Span): void {
    this.#values.set(JSON.stringify(path), span);
  }

  /** The position of the key at the end of a path. */
  key(path: Path): Span | undefined {
    return this.#keys.get(JSON.stringify(path));
  }

  /** The position of the value at a path. */
  value(path: Path): Span | undefined {
    return this.#values.get(JSON.stringify(path));
  }
}

/** A file that was read. */
export interface ConfigDocument {
  /** Absolute path. */
  readonly file: string;
  /** `""` if the value did not come from text. */
  readonly text: string;
  readonly value: unknown;
  readonly places: Places;
  /** Variables are not filled in: `${…}` has no meaning in other tools' files. */
  readonly literal?: boolean;
}

/** A position in a file, counted from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
  /** The whole line. */
  readonly text: string;
}

/** The place of a span of a text. */
export function placeAt(file: string, text: string, { offset, length }: Span): Place {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  const line = text.slice(start, end < 0 ? undefined : end).replace(/\r$/, "");
  const column = offset - start + 1;
  return {
    file,
    line: lineOf(text, start),
    column,
    length: Math.max(1, Math.min(length, line.length - column + 1)),
    text: line,
  };
}

/** The last line that was counted: mistakes of one text are looked up in about their order. */
let known = { text: "", offset: 0, line: 1 };

/** The line of an offset, counted from the last one: thousands of mistakes take no longer than few. */
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

/** The place of a part of a document, or else of its nearest parent. */
export function placeIn(
  { file, text, places }: ConfigDocument,
  path: Path,
  what: "key" | "value" = "value",
): Place | undefined {
  for (let length = path.length; length >= 0; length--) {
    const part = path.slice(0, length);
    const exact = length === path.length;
    const span = exact && what === "value"
      ? places.value(part) ?? places.key(part)
      : places.key(part) ?? places.value(part);
    if (span !== undefined) return placeAt(file, text, span);
  }
  return undefined;
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

/** Whether a value is a map of keys. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Date);
}
