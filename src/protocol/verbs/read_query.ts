/** Reads fields of a verb from a URL query, where everything is text. Pure. */

import { didYouMean, nearestWord } from "../../model/nearest_word.ts";
import { ProcsupError } from "../../model/errors.ts";
import type * as z from "../../npm/zod.ts";
import type { RestRow, Verb } from "./verb.ts";

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
    if (texts.length > 0 && innermost(schema) === "array") return [[name, texts]];
    if (texts.length > 1) {
      throw new ProcsupError("bad_request", `Parameter "${name}" is there twice: expected one`);
    }
    const text = texts[0] ?? defaults[name];
    if (text === undefined || (name in defaults && text === "own")) return [];
    const value = fromText(schema, text);
    return value === undefined ? [] : [[name, value]];
  }));
}

/** The value of a text; the text itself if the schema will refuse it. */
export function fromText(schema: z.ZodMiniType, text: string): unknown {
  switch (innermost(schema)) {
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

/** The type inside `optional` and defaults. */
function innermost(schema: z.ZodMiniType): string {
  const { def } = schema._zod as unknown as {
    readonly def: { readonly type: string; readonly innerType?: z.ZodMiniType };
  };
  return def.innerType === undefined ? def.type : innermost(def.innerType);
}

function refuseUnknown(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const near = nearestWord(name, known);
  const right = near !== undefined
    ? didYouMean(near)
    : known.length > 0
    ? `expected one of ${known.join(", ")}`
    : "none is taken here";
  throw new ProcsupError("bad_request", `Unknown parameter "${name}": ${right}`);
}
