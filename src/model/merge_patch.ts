/** JSON Merge Patch (RFC 7396), and helpers for maps. Pure. */

/** A value that is a map, such as a configuration in wire form. */
export type Keyed = Readonly<Record<string, unknown>>;

/**
 * Applies a patch to a value: `null` removes a key, maps are merged, anything else (lists included)
 * replaces the old value.
 */
export function mergePatch(value: Keyed, patch: Keyed): Record<string, unknown> {
  const merged = new Map(Object.entries(value));
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) merged.delete(key);
    else merged.set(key, isMap(change) ? mergePatch(mapOf(merged.get(key)), change) : change);
  }
  return Object.fromEntries(merged);
}

/** A copy without the keys whose value is undefined. */
export function onlyGiven<T extends object>(map: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const given = Object.entries(map).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The value if it is a map; otherwise an empty one. */
export function mapOf(value: unknown): Keyed {
  return isMap(value) ? value : {};
}

/** Whether a value is a map of keys: an object, but no list and no date. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Date);
}
