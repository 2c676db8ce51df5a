/** Reads a configuration file of any format into a document with positions. */

import { messageOf } from "../model/errors.ts";
import { isMap } from "../model/merge_patch.ts";
import { basename } from "@std/path";
import type { Document, ErrorCode, Node } from "./yaml_package.ts";
import { readForeignFile } from "../platform/files/foreign_file.ts";
import { type ConfigDocument, type Path, placeAt, placeIn, Places } from "./document.ts";
import { formatOf, kindOf } from "./file_kind.ts";
import { ConfigProblem } from "./problem.ts";
import { readJson } from "./read_json.ts";
import { lowered } from "../model/plain_text.ts";
import { runModule } from "./read_module.ts";
import { shellWord } from "../model/shell_line.ts";
import { type Format, offeredTools } from "./tools.ts";

const MAX_BYTES = 4 * 1024 * 1024;
/** More values than any file needs: reading them keeps a daemon from answering for a third of a second. */
const MAX_NODES = 20_000;
const MAX_DEPTH = 64;

interface ReadOptions {
  /** By default that of the file's name. */
  readonly kind?: string | undefined;
  /** Replaces the content of the file. */
  readonly content?: string | undefined;
}

/**
 * Reads a file by its kind. The value of a format without a parser of values is its text.
 * Throws `ConfigProblem`.
 */
export async function readDocument(
  file: string,
  env: Readonly<Record<string, string>>,
  { kind = kindOf(file), content }: ReadOptions = {},
): Promise<ConfigDocument & { readonly kind: string }> {
  if (kind === undefined) {
    if (content === undefined) readText(file);
    throw new ConfigProblem(file, "not the name of a configuration file", {
      advice: "expected .yaml, .yml, .toml, .json, .jsonc or .config.ts; of another tool: " +
        `procsup import ${offeredTools().map(({ name }) => name).join("|")} ` +
        shellWord(basename(file)),
    });
  }
  if (content !== undefined && kind === "module") {
    throw new ConfigProblem(file, "a configuration program must be a file", {
      advice: "send YAML, TOML or JSON",
    });
  }
  try {
    const document = await parse(formatOf(kind), file, content ?? readText(file), env);
    return { ...checkedDocument(document), kind };
  } catch (error) {
    // The parser has exhausted the stack.
    if (error instanceof RangeError) throw new ConfigProblem(file, "nested too deeply");
    throw error;
  }
}

/** The text of a file. Throws `ConfigProblem`. */
export function readText(file: string): string {
  try {
    // Editors on Windows write a byte order mark.
    return readForeignFile(file, { maxBytes: MAX_BYTES }).replace(/^\uFEFF/, "");
  } catch (error) {
    const missing = error instanceof Deno.errors.NotFound;
    const why = missing ? "no such file" : `cannot be read: ${messageOf(error)}`;
    throw new ConfigProblem(file, why);
  }
}

async function parse(
  format: Format,
  file: string,
  text: string,
  env: Readonly<Record<string, string>>,
): Promise<ConfigDocument> {
  switch (format) {
    case "yaml":
      return await readYaml(file, text);
    case "toml":
      return await readToml(file, text);
    case "json":
    case "jsonc":
      return await readAnyJson(format, file, text, env);
    case "module":
      return await moduleDocument(file, env);
    case "text":
      return { file, text, value: text, places: new Places() };
  }
}

async function moduleDocument(
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<ConfigDocument> {
  return { file, text: "", ...await runModule(file, env), places: new Places() };
}

async function readAnyJson(
  format: "json" | "jsonc",
  file: string,
  text: string,
  env: Readonly<Record<string, string>>,
): Promise<ConfigDocument> {
  try {
    return readJson(file, text, format === "jsonc");
  } catch (error) {
    if (!offeredTools().some(({ expressions }) => expressions?.test(basename(file)))) throw error;
    return await moduleDocument(file, env).catch(() => {
      throw error;
    });
  }
}

/** Refuses values that aliases make huge or circular, deep nesting, and the key `__proto__`. */
export function checkedDocument(document: ConfigDocument): ConfigDocument {
  let nodes = 0;
  const refuse = (what: string, path: Path, part: "key" | "value" = "value"): never => {
    const place = placeIn(document, path, part);
    throw new ConfigProblem(document.file, what, { place });
  };
  const look = (value: unknown, path: Path, around: readonly unknown[]): void => {
    if (++nodes > MAX_NODES) refuse(`more than ${MAX_NODES} values`, []);
    if (typeof value !== "object" || value === null) return;
    if (around.includes(value)) refuse("this value contains itself", path);
    if (path.length > MAX_DEPTH) refuse(`nested more than ${MAX_DEPTH} deep`, path);
    const inside = [...around, value];
    if (Array.isArray(value)) {
      return value.forEach((item, index) => look(item, [...path, index], inside));
    }
    if (!isMap(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === "__proto__") refuse('the key "__proto__" is reserved', [...path, key], "key");
      look(inner, [...path, key], inside);
    }
  };
  look(document.value, [], []);
  return document;
}

const HEADER = /^\s*(\[\[?)([^\]]+)\]/;
const PAIR = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=\s*(.*)$/;

/** Reads TOML. Throws `ConfigProblem`. */
async function readToml(file: string, text: string): Promise<ConfigDocument> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return { file, text, value: withTextDates(parse(text)), places: tomlPlaces(text) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { message, line, column } = error;
    const what = message.split("\n")[0]!.replace(/^Invalid TOML document: /, "");
    throw new ConfigProblem(file, `not valid TOML: ${what}`, { place: { file, line, column } });
  }
}

/** Dates as text: no key takes a date, and in an `env` the text is meant. */
function withTextDates(value: unknown, depth = 0): unknown {
  if (value instanceof Date) return value.toISOString();
  const inner = (item: unknown) => withTextDates(item, depth + 1);
  // Deeper values are rejected later, with their place.
  if (!isMap(value) && !Array.isArray(value) || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map(inner);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)]));
}

/** Strings and comments. An unclosed string matches too, which keeps the search linear. */
const TOML_TOKEN = new RegExp(
  [
    /"""(?:[^\\]|\\[^]?)*?(?:"{3,5}|$)/,
    /'''[^]*?(?:'{3,5}|$)/,
    /"(?:[^"\\\n]|\\.)*"?/,
    /'[^'\n]*'?/,
    /#[^\n]*/,
  ].map(({ source }) => source).join("|"),
  "g",
);

/** Blanks comments, and the lines of multi-line strings after the first. Keeps all offsets. */
function withoutTomlText(text: string): string {
  const blank = (part: string) => part.replace(/[^\n]/g, " ");
  return text.replace(TOML_TOKEN, (token) => {
    if (token.startsWith("#")) return blank(token);
    const end = token.indexOf("\n");
    return end < 0 ? token : token.slice(0, end) + blank(token.slice(end));
  });
}

/** Positions of keys and values, found line by line, since the parser has none. */
export function tomlPlaces(text: string): Places {
  const places = new Places();
  const counts = new Map<string, number>();
  let table: Path = [];
  let offset = 0;
  for (const line of withoutTomlText(text).split("\n")) {
    const [, brackets, inside] = HEADER.exec(line) ?? [];
    const [, key, value] = PAIR.exec(line) ?? [];
    if (inside !== undefined) {
      const name = inside.trim();
      table = tablePath(words(name), brackets === "[[", counts);
      places.keys.set(table, { offset: offset + line.indexOf(name), length: name.length });
    } else if (key !== undefined) {
      const path = [...table, ...words(key)];
      places.keys.set(path, { offset: offset + line.indexOf(key), length: key.length });
      const { length } = value!.trimEnd();
      places.values.set(path, { offset: offset + line.length - value!.length, length });
    }
    offset += line.length + 1;
  }
  return places;
}

/** The path of a table. A list means its last item. */
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

/** Limit of expanded aliases: enough for large files, but not for a YAML bomb. */
const MAX_ALIASES = 10_000;

/** Messages to replace those of the library that are unclear, or quote text that may be secret. */
const YAML_MISTAKES: { readonly [code in ErrorCode]?: string } = {
  MULTIPLE_DOCS: "a second document begins here, and only one is read",
  BAD_DQ_ESCAPE: "unknown escape in double quotes",
  RESOURCE_EXHAUSTION: "nested too deeply",
  TAG_RESOLVE_FAILED: "unknown tag: text that begins with ! needs quotes",
  UNEXPECTED_TOKEN: "unexpected text",
};

/** Reads YAML 1.2 with merge keys. Throws `ConfigProblem`. */
export async function readYaml(file: string, text: string): Promise<ConfigDocument> {
  const yaml = await import("./yaml_package.ts");
  refuseManyNodes(yaml, file, text);
  const document = yaml.parseDocument(text, {
    ...{ merge: true, prettyErrors: false, strict: true },
    // The library compares every key with every other, which takes minutes for a large map.
    uniqueKeys: false,
  });
  const [error] = document.errors;
  if (error !== undefined) {
    const [offset] = error.pos;
    const what = YAML_MISTAKES[error.code] ??
      lowered(error.message.split("\n")[0]!);
    throw new ConfigProblem(file, `not valid YAML: ${what}`, {
      place: placeAt(file, text, offset),
    });
  }
  const places = yamlPlaces(yaml, { file, text }, document.contents as Node | null);
  return { file, text, value: plainValue(file, document), places };
}

/** Counts the values before the parser makes an object of each. */
function refuseManyNodes(
  { Lexer }: typeof import("./yaml_package.ts"),
  file: string,
  text: string,
): void {
  // A value takes at least two characters.
  if (text.length <= 2 * MAX_NODES) return;
  let nodes = 0;
  for (const token of new Lexer().lex(text)) {
    if (token !== ":" && token !== "-" && token !== ",") continue;
    if (++nodes > MAX_NODES) throw new ConfigProblem(file, `more than ${MAX_NODES} values`);
  }
}

function plainValue(file: string, document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    const what = error instanceof RangeError
      ? "nested too deeply, or an alias contains itself"
      : (error as Error).message;
    throw new ConfigProblem(file, `not valid YAML: ${what}`);
  }
}

/** The position of every node. Throws `ConfigProblem` for a duplicate key, and for a wrong alias. */
function yamlPlaces(
  yaml: typeof import("./yaml_package.ts"),
  { file, text }: Pick<ConfigDocument, "file" | "text">,
  root: Node | null,
): Places {
  const places = new Places();
  /** Paths of the nodes with an anchor, by its name. */
  const anchors = new Map<string, Path>();
  let aliases = 0;
  const fail = (what: string, node: Node, advice?: string): never => {
    const place = placeAt(file, text, spanOf(node).offset);
    throw new ConfigProblem(file, `not valid YAML: ${what}`, { place, advice });
  };
  const note = (node: Node | null, path: Path): void => {
    if (yaml.isAlias(node)) {
      // The library examines all aliases to resolve one.
      if (++aliases > MAX_ALIASES) {
        throw new ConfigProblem(file, `more than ${MAX_ALIASES} aliases`);
      }
      const target = anchors.get(node.source) ??
        fail("this alias has no anchor before it", node, "text that begins with * needs quotes");
      places.aliases.set(path, target);
    } else if (node?.anchor !== undefined) anchors.set(node.anchor, path);
    if (node?.range) places.values.set(path, spanOf(node));
    if (yaml.isMap(node)) {
      const keys = new Set<string>();
      for (const { key, value } of node.items) {
        if (!yaml.isScalar(key)) continue;
        // The library makes a symbol of the merge key.
        const name = typeof key.value === "symbol" ? "<<" : String(key.value);
        if (keys.has(name)) fail("map keys must be unique", key);
        keys.add(name);
        places.keys.set([...path, name], spanOf(key));
        note(value as Node | null, [...path, name]);
      }
    } else if (yaml.isSeq(node)) {
      for (const [index, item] of node.items.entries()) note(item as Node, [...path, index]);
    }
  };
  note(root, []);
  return places;
}

function spanOf(node: Node) {
  const [offset, end] = node.range ?? [0, 0];
  return { offset, length: end - offset };
}
