/** The keys that an object nested in a schema knows. */

import * as z from "../npm/zod.ts";

/** Known keys at a path of a schema; none where no object with fixed keys stands. */
export function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const object = unwrapped(schema);
  if (!(object instanceof z.ZodObject)) return [];
  const [key, ...rest] = path;
  if (key === undefined) return Object.keys(object.shape);
  const inner = object.shape[key as string];
  return inner === undefined ? [] : keysAt(inner, rest);
}

/** What is below the defaults, options and short forms around a schema. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.def.out);
  const wrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault;
  return wrapped ? unwrapped(schema.def.innerType) : schema;
}
