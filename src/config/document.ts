/** A configuration file once it is read: its value, and where in the text each part of it stands. */

/** The way to a part of a document: keys and indexes. */
export type Path = readonly (string | number)[];

/** A stretch of text. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** Where the parts of a document stand. */
export class Places {
  readonly #keys = new Map<string, Span>();
  readonly #values = new Map<string, Span>();

  /** Notes where the key at the end of a path stands. */
  setKey(path: Path, span: Span): void {
    this.#keys.set(JSON.stringify(path), span);
  }

  /** Notes where the value at a path stands. */
  setValue(path: Path, span: Span): void {
    this.#values.set(JSON.stringify(path), span);
  }

  /** Where the key at the end of a path stands. */
  key(path: Path): Span | undefined {
    return this.#keys.get(JSON.stringify(path));
  }

  /** Where the value at a path stands. */
  value(path: Path): Span | undefined {
    return this.#values.get(JSON.stringify(path));
  }
}

/** A file that was read. */
export interface ConfigDocument {
  /** Absolute path. */
  readonly file: string;
  /** `""` where the value did not come from text. */
  readonly text: string;
  readonly value: unknown;
  readonly places: Places;
  /** Its values are taken as they are: `${…}` means nothing in other tools' files. */
  readonly literal?: boolean;
}

/** Where something stands, as a person counts: from 1. */
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
    line: text.slice(0, start).split("\n").length,
    column,
    length: Math.max(1, Math.min(length, line.length - column + 1)),
    text: line,
  };
}

/** The place of a part of a document, else of what holds it; undefined where nothing is known. */
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

/** What stands at a path of a value; undefined where nothing does. */
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
