/** The zod schema of a key table: checks a configuration in wire form and fills in defaults. */

import { isAbsolute } from "@std/path";
import * as z from "zod/mini";
import { durationProblem, parseDuration } from "./duration.ts";
import { FORMATS } from "./key_formats.ts";
import { isMap, type Keyed } from "./merge_patch.ts";
import {
  type Key,
  type KeyTable,
  type ListType,
  type MapType,
  type NumberType,
  type ObjectType,
  standIns,
  type TextType,
  type UnitType,
  type ValueType,
  VARIABLE_NAME,
} from "./key_table.ts";
import { parseSignal, signalProblem } from "./signal.ts";
import { parseSize, sizeProblem } from "./size.ts";

type Schema = z.ZodMiniType;

function tableSchema(table: KeyTable): Schema {
  const shape = Object.entries(table).map(([key, row]) => {
    const needed = standIns(table, key).length === 0;
    return [key, needed ? keySchema(row) : z.optional(valueSchema(row))] as const;
  });
  return z.strictObject(Object.fromEntries(shape));
}

function keySchema(key: Key): Schema {
  const schema = valueSchema(key);
  if (key.default !== undefined) return z.prefault(schema, key.default);
  return key.required ? schema : z.optional(schema);
}

function valueSchema(type: ValueType): Schema {
  switch (type.type) {
    case "text":
      return z.string().check((context) => refuse(context, textProblem(context.value, type)));
    case "program":
    case "entrypoint":
    case "path":
      return pathSchema(type.type === "path" && type.absolute === true);
    case "boolean":
      return z.boolean();
    case "int":
    case "number":
      return numberSchema(type);
    case "duration":
      return unitSchema(type, parseDuration, durationProblem, 'expected a duration such as "5s"');
    case "size":
      return unitSchema(type, parseSize, sizeProblem, 'expected a size such as "512MB"');
    case "signal":
      return reading(
        z.union([z.string(), z.int()], 'expected a signal such as "SIGTERM"'),
        signalProblem,
        parseSignal,
      );
    case "choice":
      return z.enum(type.choices as [string, ...string[]]);
    case "either":
      return z.union(type.of.map(valueSchema) as [Schema, ...Schema[]]);
    case "list":
      return listSchema(type);
    case "map":
      return mapSchema(type);
    case "object":
      return objectSchema(type);
  }
}

function refuse(context: z.core.ParsePayload, message: string | undefined): void {
  if (message === undefined) return;
  context.issues.push({ code: "custom", input: context.value, message });
}

function textProblem(text: string, type: TextType): string | undefined {
  if (text.includes("\0")) return "contains a NUL";
  if (text === "" && !type.mayBeEmpty && type.format === undefined) return "must not be empty";
  const [pattern, expected] = type.pattern ?? [];
  if (pattern !== undefined && !new RegExp(pattern).test(text)) return `expected ${expected}`;
  return type.format && FORMATS[type.format].problem(text);
}

function pathSchema(absolute: boolean): Schema {
  return z.string().check((context) => {
    const { value } = context;
    if (absolute && !isAbsolute(value)) refuse(context, 'must start with "/"');
    else if (value.split("/").includes("~")) refuse(context, TILDE);
    else refuse(context, textProblem(value, ANY));
  });
}

/** A shell would have replaced it. As it is, it would become the name of a folder. */
const TILDE = 'only shells replace "~": write the whole path, or ${HOME} in a file';

const ANY: TextType = { type: "text" };

function numberSchema({ type, min, max }: NumberType): Schema {
  const schema = type === "int" ? z.int() : z.number();
  return schema.check((context) => {
    if (min !== undefined && context.value < min) refuse(context, `expected ${min} or more`);
    if (max !== undefined && context.value > max) refuse(context, `expected ${max} or less`);
  });
}

function unitSchema(
  { least }: UnitType,
  parse: (value: string | number) => number,
  problem: (value: string | number) => string | undefined,
  expected: string,
): Schema {
  const schema = z.union([z.string(), z.number()], expected);
  const tooLow = (value: string | number) =>
    least !== undefined && parse(value) < parse(least) ? `expected ${least} or more` : undefined;
  return reading(schema, (value) => problem(value) ?? tooLow(value), parse);
}

/** The schema of a value that `parse` reads if `problem` finds none. */
function reading<I extends Schema>(
  input: I,
  problem: (value: z.output<I>) => string | undefined,
  parse: (value: z.output<I>) => unknown,
): Schema {
  const valid = input.check((context) => refuse(context, problem(context.value)));
  return z.pipe(valid, z.transform(parse));
}

function listSchema({ of, single, minItems = 0, maxItems = Infinity }: ListType): Schema {
  const item = valueSchema(of);
  const list = z.array(item).check((context) => {
    const { length } = context.value;
    if (length < minItems) refuse(context, "is empty");
    if (length > maxItems) refuse(context, `expected at most ${maxItems} items`);
  });
  if (!single) return list;
  // Wrap a single item first: an issue in a list then names its item.
  const wrapped = z.transform((value) => Array.isArray(value) || value == null ? value : [value]);
  return z.pipe(wrapped, list);
}

function mapSchema({ of, variableNames, listMeans }: MapType): Schema {
  const map = z.record(z.string(), valueSchema(of)).check((context) => {
    if (!variableNames) return;
    const wrong = Object.keys(context.value).find((key) => !new RegExp(VARIABLE_NAME).test(key));
    if (wrong === undefined) return;
    // The text after "=" was meant as a value, which may be a secret.
    const shown = JSON.stringify(wrong.replace(/=.*/s, "=***"));
    const message = `${shown} is not a variable name: it is empty, or contains a blank or "="`;
    context.issues.push({ code: "custom", input: wrong, message });
  });
  const prepare = z.transform((given, context) => {
    const isNames = Array.isArray(given) && given.every((item) => typeof item === "string");
    const value = isNames && listMeans !== undefined
      ? Object.fromEntries(given.map((item) => [item, listMeans]))
      : given;
    if (isMap(value) && Object.hasOwn(value, "__proto__")) {
      // zod would drop this key silently.
      const params = { onKey: true };
      const message = "this name is reserved";
      context.issues.push({ code: "custom", input: value, path: ["__proto__"], message, params });
    }
    return value;
  });
  return z.pipe(prepare, map);
}

/** A constant of each table, made when it is first needed: several keys share a table. */
const made = new WeakMap<KeyTable, Schema>();

/** The schema of an object, with its short forms and the aliases of its keys. */
export function objectSchema(type: ObjectType): Schema {
  const known = made.get(type.keys);
  if (known !== undefined) return known;
  const schema = newObjectSchema(type);
  made.set(type.keys, schema);
  return schema;
}

function newObjectSchema(type: ObjectType): Schema {
  const choices = Object.keys(type.keys).map((key) => [key, ...standIns(type.keys, key)])
    .filter((names) => names.length > 1);
  const object = tableSchema(type.keys).check((context) =>
    refuse(context, objectProblem(type, choices, context.value as Keyed))
  );
  const named = Object.entries(type.keys)
    .flatMap(([key, { aliases }]) => aliases === undefined ? [] : [[key, ...aliases]]);
  if (type.short === undefined && named.length === 0) return object;
  const expand = z.transform((value, context) => {
    const form = type.short?.find(({ of }) => isOf(value, of));
    if (form !== undefined) return { [form.into]: value };
    return isMap(value) ? withoutAliases(value, named, context) : value;
  });
  return z.pipe(expand, object);
}

function objectProblem(
  { exactlyOne, keys, needs, beside = {} }: ObjectType,
  choices: readonly string[][],
  value: Keyed,
): string | undefined {
  for (const [key, others] of Object.entries(beside)) {
    const isAlone = value[key] !== undefined && others.every((other) => value[other] === undefined);
    if (isAlone) return `"${key}" needs ${others.map((other) => `"${other}"`).join(" or ")}`;
  }
  if (exactlyOne) {
    const given = Object.values(value).filter((inner) => inner !== undefined);
    const [last, ...names] = Object.keys(keys).map((key) => `"${key}"`).reverse();
    if (given.length === 1) return undefined;
    return `expected exactly one of ${names.reverse().join(", ")} and ${last}`;
  }
  for (const names of choices) {
    const problem = choiceProblem(names, value);
    if (problem !== undefined) return problem;
  }
  if (needs === undefined) return undefined;
  const kind = value[needs.by] as string;
  const needed = needs.keys[kind];
  if (needed !== undefined && isEmpty(value[needed])) {
    return `${needs.by} "${kind}" needs "${needed}"`;
  }
  const [other, owner] = Object.entries(needs.only ?? {})
    .find(([key, owner]) => owner !== kind && value[key] !== undefined) ?? [];
  return other && `${needs.by} "${kind}" has no "${other}", which is for "${owner}"`;
}

/** Whether there is nothing to run or to ask: also in the short form of a hook. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === "" || (isMap(value) && value.command === "");
}

/** Exactly one of a key and those in its place must be given. */
function choiceProblem(names: readonly string[], value: Keyed): string | undefined {
  const given = names.filter((name) => value[name] !== undefined);
  if (given.length === 1) return undefined;
  return `expected ${given.length === 0 ? "" : "either "}${
    names.map((name) => `"${name}"`).join(" or ")
  }` +
    (given.length === 0 ? "" : ", not both");
}

/** Renames aliases to their keys. A key given twice is an issue. */
function withoutAliases(
  value: Keyed,
  named: readonly string[][],
  context: z.core.ParsePayload,
): Keyed {
  const renamed: Record<string, unknown> = { ...value };
  for (const names of named) {
    const [first, second] = names.filter((name) => value[name] !== undefined);
    if (second !== undefined) {
      const params = { onKey: true, twice: true };
      const message = `"${first}" and "${second}" mean the same, give one`;
      context.issues.push({ code: "custom", input: value, path: [second], message, params });
    }
    for (const name of names) delete renamed[name];
    if (first !== undefined) renamed[names[0]!] = value[first];
  }
  return renamed;
}

function isOf(value: unknown, { type }: ValueType): boolean {
  if (type === "list") return Array.isArray(value);
  return type === "boolean" ? typeof value === "boolean" : typeof value === "string";
}
