/** Validates what a client sent for a verb: a JSON text, a payload, or the query of a URL. */

import { messageOf, ProcsupError, quote } from "../model/errors.ts";
import { issueText } from "../model/issue_text.ts";
import { isMap } from "../model/merge_patch.ts";
import { didYouMean, nearestWord, withNearest } from "../model/nearest_word.ts";
import * as z from "zod/mini";
import { nothing } from "./shapes.ts";
import type { RestRow, Verb } from "./verb.ts";

/**
 * The input of a verb from its payload: an object, or a bare string for the field `bare`. Throws
 * `bad_request`.
 */
export function readInput({ input, bare }: Verb, payload: unknown): unknown {
  if (input === nothing) return void readPayload(NO_FIELDS, payload ?? {});
  const isBare = bare !== undefined && typeof payload === "string";
  return readPayload(input, isBare ? { [bare]: payload } : payload ?? {});
}

const NO_FIELDS = z.strictObject({});

/**
 * Parses a payload by a schema. Throws `bad_request` naming the invalid field, and `invalid_config`
 * for a key that zod would drop silently from a map.
 */
export function readPayload<S extends z.ZodMiniType>(schema: S, payload: unknown): z.output<S> {
  const result = z.safeParse(schema, payload, { error: issueText });
  if (result.success) {
    const drops = Object.values(Object(payload)).some((value) =>
      isMap(value) && Object.hasOwn(value, "__proto__")
    );
    if (!drops) return result.data;
    throw new ProcsupError("invalid_config", 'Unknown key "__proto__"', { field: "__proto__" });
  }
  throw payloadError(result.error.issues[0]!, schema, payload);
}

function payloadError(
  issue: z.core.$ZodIssue,
  schema: z.ZodMiniType,
  payload: unknown,
): ProcsupError {
  if (issue.code === "unrecognized_keys") {
    const known = schema instanceof z.ZodMiniObject ? Object.keys(schema.shape) : [];
    const [key = "", ...others] = issue.keys;
    const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
    const what = `Unknown field ${quote(key)}${more}`;
    return new ProcsupError("bad_request", withNearest(what, nearestWord(key, known)));
  }
  const field = issue.path.join(".");
  const value = issue.path.reduce<unknown>((at, key) => Object(at)[key], payload);
  if (field !== "" && value === undefined) {
    return new ProcsupError("bad_request", `Missing "${field}"`);
  }
  const what = field === "" ? "payload" : `"${field}"${quoted(issue, payload)}`;
  return new ProcsupError("bad_request", `Invalid ${what}: ${issue.message}`);
}

/** The value to show in the message; nested values may be secret. */
function quoted({ path }: z.core.$ZodIssue, payload: unknown): string {
  if (path.length !== 1) return "";
  const value = Object(payload)[path[0]!];
  return ["string", "number", "boolean"].includes(typeof value) ? ` ${quote(value)}` : "";
}

export function fieldsOf({ input }: Pick<Verb, "input">): Readonly<Record<string, z.ZodMiniType>> {
  return ((input as z.ZodMiniObject).shape ?? {}) as ReturnType<typeof fieldsOf>;
}

/** The fields in a query, in the types of the verb. Throws `bad_request` for one that is unknown or given twice. */
export function readQuery(
  verb: Pick<Verb, "input">,
  { query: names = [], defaults = {} }: Pick<RestRow, "query" | "defaults">,
  query: URLSearchParams,
): Record<string, unknown> {
  for (const name of query.keys()) refuseUnknown(name, names);
  const fields = fieldsOf(verb);
  return Object.fromEntries(names.flatMap((name) => {
    const schema = fields[name]!;
    const texts = query.getAll(name);
    const { type, options = [] } = innermost(schema);
    if (type === "array" && texts.length > 0) return [[name, texts]];
    const isListToo = options.some((option) => innermost(option).type === "array");
    if (isListToo && texts.length > 1) return [[name, texts]];
    if (texts.length > 1) {
      throw new ProcsupError("bad_request", `Parameter "${name}" is given twice: expected one`);
    }
    const text = texts[0] ?? defaults[name];
    if (text === undefined || (name in defaults && text === "own")) return [];
    const value = fromText(schema, text);
    return value === undefined ? [] : [[name, value]];
  }));
}

/** The value of a text; the text itself if the schema will refuse it. */
function fromText(schema: z.ZodMiniType, text: string): unknown {
  switch (innermost(schema).type) {
    case "boolean":
      if (text === "") return undefined;
      if (text === "true" || text === "1") return true;
      return text === "false" || text === "0" ? false : text;
    case "number":
      return /^-?\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : text;
    default:
      return text;
  }
}

interface Shape {
  readonly type: string;
  readonly innerType?: z.ZodMiniType;
  /** Those of a union. */
  readonly options?: readonly z.ZodMiniType[];
}

/** The shape inside `optional` and defaults. */
function innermost(schema: z.ZodMiniType): Shape {
  const { def } = schema._zod as unknown as { readonly def: Shape };
  return def.innerType === undefined ? def : innermost(def.innerType);
}

function refuseUnknown(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const near = nearestWord(name, known);
  const right = near !== undefined
    ? didYouMean(near)
    : known.length > 0
    ? `expected one of ${known.join(", ")}`
    : "this route has none";
  throw new ProcsupError("bad_request", `Unknown parameter ${quote(name)}: ${right}`);
}

/** Maximum nesting of a value; deeper ones could overflow the stack. */
const MAX_DEPTH = 64;

/** Parses a JSON text. Throws `bad_request` if it is invalid or nested too deeply. */
export function parseJson(text: string): unknown {
  refuseDeep(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ProcsupError("bad_request", `The body is not JSON: ${messageOf(error)}`);
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

function refuseDeep(text: string): void {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (quoted && char === BACKSLASH) i++;
    else if (char === QUOTE) quoted = !quoted;
    else if (quoted) continue;
    else if (CLOSING.has(char)) depth--;
    else if (OPENING.has(char) && ++depth > MAX_DEPTH) {
      throw new ProcsupError("bad_request", `The body is nested more than ${MAX_DEPTH} deep`);
    }
  }
}
