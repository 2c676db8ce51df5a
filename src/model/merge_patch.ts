/** JSON Merge Patch (RFC 7396). Pure. */

/** Keys and values as JSON has them. */
type Json = Readonly<Record<string, unknown>>;

/**
 * A value with a patch laid over it: `null` takes a key away, maps are merged, all else (lists
 * included) takes the place of what there was.
 */
export function mergePatch(value: Json, patch: Json): Record<string, unknown> {
  const merged = new Map(Object.entries(value));
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) merged.delete(key);
    else merged.set(key, isMap(change) ? mergePatch(mapOf(merged.get(key)), change) : change);
  }
  return Object.fromEntries(merged);
}

function mapOf(value: unknown): Json {
  return isMap(value) ? value : {};
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
