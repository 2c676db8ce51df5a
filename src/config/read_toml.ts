/** TOML → a document with places. The parser has places for errors only: keys are found by their lines. */

import { type ConfigDocument, type Path, placeAt, Places } from "./document.ts";
import { ConfigProblem } from "./problem.ts";

const HEADER = /^\s*(\[\[?)\s*([^\]]+?)\s*\]/;
const PAIR = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=\s*(.*)$/;

/** Reads TOML. Throws `ConfigProblem`. */
export async function readToml(file: string, text: string): Promise<ConfigDocument> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return { file, text, value: parse(text), places: tomlPlaces(text) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = error.message.split("\n")[0]!.replace(/^Invalid TOML document: /, "");
    const before = text.split("\n").slice(0, error.line - 1).join("\n").length;
    const offset = before + (error.line > 1 ? 1 : 0) + error.column - 1;
    throw new ConfigProblem(file, `not valid TOML: ${what}`, {
      place: placeAt(file, text, { offset, length: 1 }),
    });
  }
}

/** Where the keys stand, as far as a look at each line tells. */
export function tomlPlaces(text: string): Places {
  const places = new Places();
  const counts = new Map<string, number>();
  let table: Path = [];
  let offset = 0;
  for (const line of text.split("\n")) {
    const [, brackets, name] = HEADER.exec(line) ?? [];
    const [, key, value] = PAIR.exec(line) ?? [];
    if (name !== undefined) {
      table = tablePath(words(name), brackets === "[[", counts);
      places.setKey(table, { offset: offset + line.indexOf(name), length: name.length });
    } else if (key !== undefined) {
      const path = [...table, ...words(key)];
      places.setKey(path, { offset: offset + line.indexOf(key), length: key.length });
      const length = value!.replace(/\s*(#[^"']*)?$/, "").length;
      places.setValue(path, { offset: offset + line.length - value!.length, length });
    }
    offset += line.length + 1;
  }
  return places;
}

/** The path of a table; each part that is a list means the last item of that list. */
function tablePath(keys: readonly string[], isItem: boolean, counts: Map<string, number>): Path {
  const path: (string | number)[] = [];
  for (const [index, key] of keys.entries()) {
    path.push(key);
    const id = JSON.stringify(path);
    if (isItem && index === keys.length - 1) counts.set(id, (counts.get(id) ?? 0) + 1);
    const count = counts.get(id);
    if (count !== undefined) path.push(count - 1);
  }
  return path;
}

function words(dotted: string): string[] {
  const found = dotted.match(/"[^"]*"|'[^']*'|[\w-]+/g) ?? [];
  return found.map((word) => word.replace(/^["']|["']$/g, ""));
}
