/** JSON and JSON with comments → a document with positions, which `JSON.parse` does not give. */

import { type ConfigDocument, type Path, placeAt, Places } from "./document.ts";
import { ConfigProblem } from "./problem.ts";

const MAX_DEPTH = 100;

/** Reads JSON; `comments` allows comments and trailing commas. Throws `ConfigProblem`. */
export function readJson(file: string, text: string, comments = false): ConfigDocument {
  const places = new Places();
  const reader = new JsonReader(file, text.replace(/^\ufeff/, " "), comments, places);
  return { file, text, value: reader.document(), places };
}

class JsonReader {
  readonly #file: string;
  readonly #text: string;
  readonly #comments: boolean;
  readonly #places: Places;
  #at = 0;

  constructor(file: string, text: string, comments: boolean, places: Places) {
    this.#file = file;
    this.#text = text;
    this.#comments = comments;
    this.#places = places;
  }

  document(): unknown {
    const value = this.#value([]);
    this.#skip();
    if (this.#at < this.#text.length) this.#fail("something follows after the end");
    return value;
  }

  #value(path: Path): unknown {
    this.#skip();
    if (path.length > MAX_DEPTH) this.#fail("nested too deeply");
    const offset = this.#at;
    const value = this.#anyValue(path);
    this.#places.setValue(path, { offset, length: this.#at - offset });
    return value;
  }

  #anyValue(path: Path): unknown {
    const next = this.#text[this.#at];
    if (next === "{") return this.#object(path);
    if (next === "[") return this.#array(path);
    if (next === '"') return this.#string();
    const [word] = this.#match(/[-+\w.]+/y) ?? [];
    if (word === undefined) {
      this.#fail(next === undefined ? "it ends too early" : "expected a value");
    }
    try {
      return JSON.parse(word);
    } catch {
      this.#at -= word.length;
      // The word is not quoted: it may be a secret without its quotes.
      return this.#fail("expected a value: text needs quotes", word.length);
    }
  }

  #object(path: Path): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    this.#list("}", () => {
      const offset = this.#at;
      if (this.#text[offset] !== '"') this.#fail("expected a key in quotes");
      const key = this.#string();
      const length = this.#at - offset;
      if (entries.has(key)) {
        this.#at = offset;
        this.#fail(`duplicate key ${JSON.stringify(key)}`, length);
      }
      const inner = [...path, key];
      this.#places.setKey(inner, { offset, length });
      this.#skip();
      if (this.#text[this.#at++] !== ":") this.#fail('expected ":" after the key', 1, -1);
      entries.set(key, this.#value(inner));
    });
    // fromEntries() makes "__proto__" an ordinary key.
    return Object.fromEntries(entries);
  }

  #array(path: Path): unknown[] {
    const items: unknown[] = [];
    this.#list("]", () => items.push(this.#value([...path, items.length])));
    return items;
  }

  #list(end: string, item: () => void): void {
    this.#at++;
    this.#skip();
    while (this.#text[this.#at] !== end) {
      item();
      this.#skip();
      if (this.#text[this.#at] === end) break;
      if (this.#text[this.#at] !== ",") this.#fail(`expected "," or "${end}"`);
      this.#at++;
      this.#skip();
      if (this.#text[this.#at] === end && !this.#comments) {
        this.#fail(`a value is missing between "," and "${end}"`);
      }
    }
    this.#at++;
  }

  #string(): string {
    // deno-lint-ignore no-control-regex
    const [quoted] = this.#match(/"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y) ?? [];
    return quoted === undefined ? this.#fail("this text has no end") : JSON.parse(quoted);
  }

  #skip(): void {
    const space = this.#comments ? /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y : /\s*/y;
    this.#match(space);
    if (this.#text.startsWith("//", this.#at) || this.#text.startsWith("/*", this.#at)) {
      this.#fail(
        this.#comments ? "this comment has no end" : "a comment needs a file name in .jsonc",
      );
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #fail(what: string, length = 1, shift = 0): never {
    const offset = Math.min(this.#at + shift, this.#text.length);
    throw new ConfigProblem(this.#file, `not valid JSON: ${what}`, {
      place: placeAt(this.#file, this.#text, { offset, length }),
    });
  }
}
