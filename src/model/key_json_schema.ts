/** The JSON Schema of a key table, draft 2020-12: for editors and for OpenAPI. */

import { FORMATS } from "./key_formats.ts";
import {
  type Key,
  type KeyTable,
  type ListType,
  type MapType,
  type NumberType,
  type ObjectType,
  standIns,
  type TextType,
  type ValueType,
  VARIABLE_NAME,
} from "./key_table.ts";
import { onlyGiven } from "./merge_patch.ts";

/** A JSON Schema, or a part of one. */
export type JsonSchema = { readonly [key: string]: unknown };

interface JsonSchemaOptions {
  /** In files, text may contain `${VAR}` and paths are relative to the file. */
  readonly inFile?: boolean;
  /** Makes every key optional. */
  readonly partial?: boolean;
  /** For a merge patch: every key is optional, inner ones too, and null takes it away. */
  readonly patch?: boolean;
}

/** The schema of an object with the keys of a table. */
export function tableJson(table: KeyTable, options: JsonSchemaOptions = {}): JsonSchema {
  const properties = Object.entries(table).flatMap(([key, row]) =>
    [key, ...row.aliases ?? []].map((name) => [name, keyJson(key, name, row, options)])
  );
  // The schema cannot require one of several names, so a key with others in its place is never required.
  const required = Object.keys(table).filter((key) =>
    table[key]!.required && !table[key]!.aliases && standIns(table, key).length === 0
  );
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(options.partial || options.patch || required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function keyJson(key: string, name: string, row: Key, options: JsonSchemaOptions): JsonSchema {
  const { help, note, variables } = row;
  const filled = variables && options.inFile;
  const filling = "${VAR} and ${VAR:-default} are filled in, $$ is a $.";
  const description = [name === key ? `${help}.` : `Same as ${key}.`, note, filled && filling];
  return {
    description: description.filter(Boolean).join(" "),
    ...orNull(valueJson(row, filled === true, options), options),
    ...(row.default === undefined ? {} : { default: row.default }),
  };
}

function orNull(value: JsonSchema, { patch }: JsonSchemaOptions): JsonSchema {
  return patch ? { anyOf: [value, { type: "null" }] } : value;
}

function numberJson({ type, min, max, word }: NumberType): JsonSchema {
  const number = {
    type: type === "int" ? "integer" : "number",
    ...onlyGiven({ minimum: min, maximum: max }),
  };
  return word === undefined ? number : { anyOf: [number, { const: word }] };
}

function valueJson(type: ValueType, filled: boolean, options: JsonSchemaOptions): JsonSchema {
  const inner = (of: ValueType) => valueJson(of, filled, options);
  switch (type.type) {
    case "boolean":
      return { type: "boolean" };
    case "int":
    case "number":
      return numberJson(type);
    case "duration":
      return { anyOf: [{ type: "string", pattern: DURATION }, { type: "number", minimum: 0 }] };
    case "size":
      return { anyOf: [{ type: "string", pattern: SIZE }, { type: "number", minimum: 0 }] };
    case "signal":
      return { type: ["string", "integer"] };
    case "choice":
      return { enum: type.choices };
    case "either":
      return { anyOf: type.of.map(inner) };
    case "list":
      return listJson(type, filled, options);
    case "map":
      return mapJson(type, filled, options);
    case "object":
      return objectJson(type, options);
    case "text":
      return textJson(type, filled);
    case "path":
      return { type: "string", ...(type.absolute && !options.inFile ? { pattern: "^/" } : SOME) };
    default:
      return { type: "string", ...SOME };
  }
}

const SOME = { minLength: 1 };
const DURATION = "^(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$";
const SIZE = "^[0-9]+(\\.[0-9]+)? ?([kKmMgG]i?)?[bB]?$";

function textJson(type: TextType, filled: boolean): JsonSchema {
  const pattern = type.pattern?.[0] ?? (type.format && FORMATS[type.format].pattern);
  if (pattern === undefined) return { type: "string", ...(type.mayBeEmpty ? {} : SOME) };
  return { type: "string", pattern: filled ? `${pattern}|\\$\\{` : pattern };
}

/** In a file, a list or map of text also accepts numbers and booleans. */
function textsJson(of: ValueType, filled: boolean, options: JsonSchemaOptions): JsonSchema {
  if (!filled || of.type !== "text") return valueJson(of, filled, options);
  return of.pattern === undefined
    ? { type: ["string", "number", "boolean"] }
    : { anyOf: [textJson(of, true), { type: ["number", "boolean"] }] };
}

function listJson(type: ListType, filled: boolean, options: JsonSchemaOptions): JsonSchema {
  const list = {
    type: "array",
    items: textsJson(type.of, filled, options),
    ...onlyGiven({ minItems: type.minItems, maxItems: type.maxItems }),
  };
  return type.single ? { anyOf: [valueJson(type.of, filled, options), list] } : list;
}

function mapJson(type: MapType, filled: boolean, options: JsonSchemaOptions): JsonSchema {
  const map = {
    type: "object",
    ...(type.variableNames ? { propertyNames: { pattern: VARIABLE_NAME } } : {}),
    additionalProperties: orNull(textsJson(type.of, filled, options), options),
  };
  if (type.listMeans === undefined) return map;
  return { anyOf: [{ type: "array", items: { type: "string" } }, map] };
}

function objectJson(type: ObjectType, options: JsonSchemaOptions): JsonSchema {
  const object = {
    ...tableJson(type.keys, { ...options, partial: false }),
    ...(type.exactlyOne ? { minProperties: 1, maxProperties: 1 } : {}),
  };
  const short = (type.short ?? []).map(({ of }) => valueJson(of, false, options));
  return short.length === 0 ? object : { anyOf: [...short, object] };
}
