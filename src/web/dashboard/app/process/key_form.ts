/** Builds form fields from the key table, and a configuration from their texts. */

import type { Key, KeyTable, ObjectType, ValueType } from "../../../../model/key_table.ts";
import { PROCESS_KEYS } from "../../../../model/process_keys.ts";
import { shellWord, splitWords } from "../../../../model/shell_line.ts";
import { ApiError } from "../data/api.ts";
import { FieldError, readEnv, readObject } from "../data/format.ts";

export interface FormKey {
  /** `restart_delay`, `health_check.url`. */
  readonly path: string;
  readonly row: Key;
  readonly label: string;
}

/** The fields by heading. An object's keys have a field each. */
export function formGroups(): ReadonlyMap<string, readonly FormKey[]> {
  const entries = Object.entries(PROCESS_KEYS).filter(([, row]) => !row.input);
  const groups = Map.groupBy(entries, ([, { group }]) => group!);
  return new Map([...groups].map(([group, rows]) => [
    group,
    rows.flatMap(([key, row]) => row.type === "object" ? fieldsOf(row.keys, key) : field(key, row)),
  ]));
}

function fieldsOf(keys: KeyTable, prefix: string): FormKey[] {
  return Object.entries(keys).map(([key, row]) => field(`${prefix}.${key}`, row));
}

function field(path: string, row: Key): FormKey {
  const words = path.replaceAll("_", " ").replace(".", ": ");
  return { path, row, label: row.label ?? words[0]!.toUpperCase() + words.slice(1) };
}

export function hintOf(row: Key): string {
  const usual = row.default;
  const shown = typeof usual === "object" || usual === undefined ? "" : ` (default: ${usual})`;
  return [row.help + shown, FORMS[row.type]].filter(Boolean).join(". ");
}

const FORMS: Readonly<Record<string, string>> = {
  list: "Words as in a shell",
  map: "KEY=value, one per line",
};

/** Options of a field; the empty one means the default. */
export function optionsOf(row: Key): readonly string[] | undefined {
  if (row.type === "boolean") return ["", "true", "false"];
  return row.type === "choice" ? ["", ...row.choices] : undefined;
}

/** The configuration from the fields, without empty ones. Throws if a field is invalid. */
export function configOf(texts: Iterable<readonly [FormKey, string]>): Record<string, unknown> {
  const config: Record<string, unknown> = {};
  for (const [{ path, row }, text] of texts) {
    if (text.trim() === "") continue;
    const value = valueOf(path, row, text.trim());
    const [key, inner] = path.split(".") as [string, string?];
    config[key] = inner === undefined ? value : { ...config[key] as object, [inner]: value };
  }
  return config;
}

function valueOf(path: string, type: ValueType, text: string): unknown {
  switch (type.type) {
    case "int":
    case "number":
      return Number.isNaN(Number(text)) ? text : Number(text);
    case "boolean":
      return text === "true";
    case "list":
      // As textOfKey() writes a list with objects.
      if (/^\[\s*[{"]/.test(text)) return readObject(path, `{"list":${text}}`).list;
      return splitWords(text).map((word) => valueOf(path, type.of, word));
    case "either":
      return eitherOf(path, type.of, text);
    case "map":
      if (type.of.type === "object") return readObject(path, text);
      if (type.listMeans !== undefined && !text.includes("=")) return splitWords(text);
      return readEnv(text, path);
    case "object":
      return (type as ObjectType).short === undefined ? readObject(path, text) : text;
    default:
      return text;
  }
}

function eitherOf(path: string, types: readonly ValueType[], text: string): unknown {
  const of = (name: ValueType["type"]) => types.find(({ type }) => type === name);
  if (of("boolean") && (text === "true" || text === "false")) return text === "true";
  if (of("int") && /^\d+$/.test(text)) return Number(text);
  const list = of("list");
  return list === undefined ? text : valueOf(path, list, text);
}

/** The text of a key's value, as `configOf()` reads it; empty if it is not set. */
export function textOfKey({ path, row }: FormKey, config: Config): string {
  const [key, inner] = path.split(".") as [string, string?];
  const outer = config[key];
  const value = inner === undefined ? outer : isMap(outer) ? outer[inner] : undefined;
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) {
    return value.every((item) => typeof item !== "object")
      ? value.map((item) => shellWord(String(item))).join(" ")
      : JSON.stringify(value);
  }
  if (!isMap(value)) return String(value);
  const isFlat = row.type === "map" && row.of.type !== "object" &&
    Object.values(value).every((one) => typeof one === "string" && !one.includes("\n"));
  return isFlat
    ? Object.entries(value).map(([name, one]) => `${name}=${one}`).join("\n")
    : JSON.stringify(value);
}

/** The merge patch (RFC 7396) from one configuration to another. */
export function patchOf(before: Config, after: Config): Config {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries([...keys].flatMap((key): [string, unknown][] => {
    const [from, to] = [before[key], after[key]];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    if (to === undefined) return [[key, null]];
    return [[key, isMap(from) && isMap(to) ? patchOf(from, to) : to]];
  }));
}

type Config = Readonly<Record<string, unknown>>;

function isMap(value: unknown): value is Config {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The field that an error refers to. */
export function fieldOf(refusal: unknown, paths: readonly string[]): string | undefined {
  const isExpected = refusal instanceof ApiError || refusal instanceof FieldError;
  const named = isExpected ? refusal.field : undefined;
  return paths.findLast((path) => named === path || named?.startsWith(`${path}.`));
}
