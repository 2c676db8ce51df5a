/** Prepares the keys of one file for merging, and finds the place of a mistake in them. */

import { ConfigFieldError } from "../model/config_schema.ts";
import { messageOf, type ProcsupError } from "../model/errors.ts";
import { expanded } from "../model/key_spelling.ts";
import { formOf, type KeyTable, rowOf, type ValueType } from "../model/key_table.ts";
import { isMap } from "../model/merge_patch.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { type ReferenceReader, replaceReferences } from "../model/references.ts";
import { dirname, isAbsolute, resolve } from "@std/path";
import { lookAt } from "../platform/files/stat.ts";
import { extensionOf, isBareWord, isExecutable } from "../runtimes/programs.ts";
import { isScript } from "../runtimes/runtime_table.ts";
import { type ConfigDocument, type Path, type Place, placeIn, valueAt } from "./document.ts";
import { lowered } from "../model/plain_text.ts";
import { ConfigProblem } from "./problem.ts";

/** Keys of one file, for one process or for all. */
export interface Layer {
  readonly document: ConfigDocument;
  /** Path of the keys in the document. */
  readonly path: Path;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface LayerContext {
  readonly lookup: Lookup;
  /** Value for variables that are not set and have no default; without it they are mistakes. */
  readonly assumed?: string;
  /** Receives mistakes. */
  readonly problems: ProcsupError[];
  /** Receives values that contain variables. */
  readonly references?: Reference[];
  /** Receives the places of paths that are absolute as written. */
  readonly absolutePaths?: Path[];
}

/** A value that contains variables. */
export interface Reference {
  /** Keys and indexes of the value within its process. */
  readonly path: Path;
  /** The text as written. */
  readonly text: string;
  /** Names of the variables, and whether each has a value or a default. */
  readonly variables: Readonly<Record<string, boolean>>;
}

/** The keys of a layer, with variables filled in and paths made absolute. */
export function preparedKeys(
  layer: Layer,
  context: LayerContext,
  table: KeyTable = PROCESS_KEYS,
): Record<string, unknown> {
  const preparing = { layer, context, folder: dirname(layer.document.file) };
  const value = table === PROCESS_KEYS ? expanded(layer.value) : layer.value;
  return preparedObject(value, table, [], preparing);
}

interface Preparing {
  readonly layer: Layer;
  readonly context: LayerContext;
  readonly folder: string;
}

function preparedObject(
  value: Readonly<Record<string, unknown>>,
  table: KeyTable,
  path: Path,
  preparing: Preparing,
): Record<string, unknown> {
  const entries = Object.entries(value).map(([key, inner]) => {
    const row = rowOf(table, key);
    const at = [...path, key];
    return [key, row === undefined ? inner : prepared(inner, row, row.variables, at, preparing)];
  });
  return Object.fromEntries(entries);
}

/** Prepares a value by its type. Leaves values of the wrong type for the schema to refuse. */
function prepared(
  value: unknown,
  given: ValueType,
  variables: boolean | undefined,
  path: Path,
  preparing: Preparing,
): unknown {
  const type = formOf(given, value);
  const { layer, context, folder } = preparing;
  const each = (inner: unknown, of: ValueType, key: string | number) =>
    prepared(inner, of, variables, [...path, key], preparing);
  if (Array.isArray(value)) {
    const list = type.type === "object"
      ? type.short?.find(({ of }) => of.type === "list")?.of
      : type;
    return list?.type === "list" ? value.map((item, index) => each(item, list.of, index)) : value;
  }
  if (isMap(value)) {
    if (type.type === "object") return preparedObject(value, type.keys, path, preparing);
    if (type.type !== "map") return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, inner]) => [key, each(inner, type.of, key)]));
  }
  const text = variables && (typeof value === "string" || (type.type === "text" && path.length > 1))
    ? filledText(value, path, layer, context)
    : value;
  if (typeof text !== "string") return text;
  if (["path", "entrypoint", "program"].includes(type.type) && isAbsolute(text)) {
    context.absolutePaths?.push(path);
  }
  if (type.type === "path") return resolve(folder, text);
  if (type.type === "entrypoint") return entryPath(folder, text);
  return type.type === "program" && text.includes("/") ? resolve(folder, text) : text;
}

/** Fills in variables. Numbers stay as written: `1.10` is a version, not 1.1. */
function filledText(
  value: unknown,
  path: Path,
  { document, path: prefix }: Layer,
  { lookup, assumed, problems, references }: LayerContext,
): unknown {
  const full = [...prefix, ...path];
  if (typeof value === "number" || typeof value === "boolean") {
    const { offset = 0, length = 0 } = document.places.source(full) ?? {};
    const written = document.text.slice(offset, offset + length);
    return isLiteral(written, value) ? written : String(value);
  }
  if (typeof value !== "string") return value;
  const variables: Record<string, boolean> = {};
  try {
    const filled = interpolate(value, (name, fallback) => {
      const found = lookup(name);
      variables[name] = (found ?? fallback) !== undefined;
      return found ?? (fallback === undefined ? assumed : undefined);
    });
    if (Object.keys(variables).length > 0) references?.push({ path, text: value, variables });
    return filled;
  } catch (error) {
    const place = placeIn(document, full);
    problems.push(new ConfigProblem(document.file, messageOf(error), { place }));
    return "";
  }
}

/** Whether a text is a number or boolean of this value, such as `1.10`, `080`, `.inf` or `True`. */
function isLiteral(text: string, value: number | boolean): boolean {
  if (typeof value === "number" && !Number.isFinite(value) && text !== "") return true;
  return text.toLowerCase() === String(value) || (text !== "" && Number(text) === value);
}

/** The path relative to the file if it exists there; otherwise unchanged, for the working directory or PATH. */
function entryPath(folder: string, path: string): string {
  if (path === "" || isAbsolute(path)) return path;
  const file = resolve(folder, path);
  const info = lookAt(file);
  if (!isBareWord(path)) return info === undefined ? path : file;
  const runs = isExecutable(info) || (info?.isFile === true && isScript(extensionOf(path)));
  return runs ? file : path;
}

const INSIDE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;

/** Looks up a variable; undefined if it is not set. `fallback` is the default as it is written. */
export type Lookup = (name: string, fallback?: string) => string | undefined;

/**
 * Fills in the variables of a text. A default replaces variables that are unset or empty, and may
 * contain others; `$$` is a `$`. Throws an `Error` that never quotes a value.
 */
export function interpolate(text: string, lookup: Lookup): string {
  const braced: ReferenceReader["braced"] = (inside, depth) => {
    const [, name, fallback] = INSIDE.exec(inside) ?? [];
    if (name === undefined) {
      // Do not quote it: it may be part of a secret.
      throw new Error("${…} is not a variable: expected ${NAME} or ${NAME:-default}");
    }
    const value = lookup(name, fallback);
    if (fallback !== undefined) return value || replaceReferences(fallback, { braced }, depth + 1);
    if (value === undefined) {
      const ways = `write \${${name}:-default}, or $\${${name}} to leave it as it is`;
      throw new Error(`the variable ${name} is not set: set it, ${ways}`);
    }
    return value;
  };
  return replaceReferences(text, { braced });
}

/** The result of `parse`; undefined if it throws, after adding its mistakes to `problems`. */
export function checked<T>(
  parse: () => T,
  layers: readonly Layer[],
  problems: ProcsupError[],
  process?: string,
): T | undefined {
  try {
    return parse();
  } catch (error) {
    const each = error instanceof ConfigFieldError ? error.each : [error];
    problems.push(...each.map((one) => located(one, layers, process)));
    return undefined;
  }
}

/** A mistake with its place in the layers, and the name of the process that has it. */
export function located(error: unknown, layers: readonly Layer[], process?: string): ConfigProblem {
  const last = layers.at(-1)!;
  const field = error instanceof ConfigFieldError ? error : undefined;
  const origin = process === undefined
    ? undefined
    : last.document.origins?.(process, String(field?.path[0] ?? ""));
  if (origin !== undefined) {
    // In the words of the file that was converted.
    const { key, place } = origin;
    const why = field?.why ?? lowered(messageOf(error));
    const what = `"${process}": ${key === undefined ? "" : `${key}: `}${why}`;
    return new ConfigProblem(place?.file ?? last.document.file, what, { place });
  }
  const place = field === undefined
    ? placeIn(last.document, last.path, "key")
    : placeOfField(field, layers);
  const message = lowered(messageOf(error));
  const what = process === undefined ? message : `"${process}": ${message}`;
  const isMisplaced = field?.onKey && field.path.length === 1 && field.path[0] === "critical";
  const advice = process !== undefined && isMisplaced
    ? `write it under "run": run: { critical: [${process}] }`
    : undefined;
  return new ConfigProblem(place?.file ?? last.document.file, what, { place, advice });
}

function placeOfField(
  { path, onKey }: ConfigFieldError,
  layers: readonly Layer[],
): Place | undefined {
  const own = path.filter((part) => typeof part !== "symbol");
  // In a cron job the schedule is not under "cron".
  const others = own[0] === "cron" ? [own.slice(1)] : own[0] === "entrypoint" ? [["command"]] : [];
  for (const layer of layers.toReversed()) {
    for (const way of [own, ...others]) {
      const full = [...layer.path, ...asWritten(way, layer)];
      if (way.length === 0 || valueAt(layer.document.value, full) === undefined) continue;
      return placeIn(layer.document, full, onKey ? "key" : "value");
    }
  }
  const { document, path: at } = layers.at(-1)!;
  return placeIn(document, at, "key");
}

/** The path of a dependency in a list, which stands for a map. */
function asWritten(path: Path, layer: Layer): Path {
  if (path[0] !== "depends_on" || path.length !== 2) return path;
  const given = valueAt(layer.document.value, [...layer.path, "depends_on"]);
  return Array.isArray(given) ? ["depends_on", given.indexOf(path[1])] : path;
}
