/** The keys and values that a JSON Schema describes at a place of a YAML text in block style. */

/** A schema, or a part of it. */
export interface SchemaNode {
  readonly [keyword: string]: unknown;
}

interface Word {
  readonly label: string;
  readonly info: string;
}

/** The keys that may be at a place. `above` are the lines before, `ahead` the indent and dashes. */
export function keysAt(schema: SchemaNode, above: readonly string[], ahead: string): Word[] {
  const nodes = nodesAt(schema, pathAt(above, ahead));
  const keys = nodes.flatMap(({ properties = {} }) => Object.entries(properties as SchemaNode));
  // Some parts of the schema repeat a key without its description.
  const known = new Map<string, string>();
  for (const [label, node] of keys) known.set(label, known.get(label) || infoOf(node));
  return [...known].map(([label, info]) => ({ label, info }));
}

/** The values that a key may have. */
export function valuesAt(
  schema: SchemaNode,
  above: readonly string[],
  ahead: string,
  key: string,
): Word[] {
  const nodes = nodesAt(schema, [...pathAt(above, ahead), key]);
  const labels = nodes.flatMap(({ type, enum: some = [], const: only }) => [
    ...[some, only ?? []].flat().map(String),
    ...([type].flat().includes("boolean") ? ["true", "false"] : []),
  ]);
  return [...new Set(labels)].map((label) => ({ label, info: "" }));
}

function infoOf(node: unknown): string {
  return String(Object(node).description ?? "");
}

/** The keys that lead to a place; `*` is an item of a list. */
export function pathAt(above: readonly string[], ahead: string): string[] {
  const path: string[] = [];
  let indent = ahead.length;
  const enterList = (spaces: number, dashes: string) => {
    if (dashes === "") return;
    path.unshift("*");
    // The key of a list may be as far to the left as its dashes.
    indent = spaces + 0.5;
  };
  enterList(ahead.indexOf("-"), ahead.trim());
  for (const line of above.toReversed()) {
    const [, spaces, dashes, key] = /^(\s*)((?:- )*)([\w.$-]+):/.exec(line) ?? [];
    if (key === undefined) continue;
    const column = spaces!.length + dashes!.length;
    if (column > indent || (column === indent && dashes === "")) continue;
    if (column < indent) {
      path.unshift(key);
      indent = column;
    }
    enterList(spaces!.length, dashes!);
  }
  return path;
}

/** The parts of a schema about a place. */
function nodesAt(schema: SchemaNode, path: readonly string[]): SchemaNode[] {
  const all = (node: unknown): SchemaNode[] => {
    if (typeof node !== "object" || node === null) return [];
    const { $ref, anyOf = [], allOf = [], oneOf = [], then, else: other } = node as SchemaNode;
    const target = String($ref ?? "").split("/").slice(1)
      .reduce<unknown>((part, name) => Object(part)[name], schema);
    const inner = [$ref && target, anyOf, allOf, oneOf, then, other].flat();
    return [node as SchemaNode, ...inner.flatMap(all)];
  };
  return path.reduce(
    (nodes, key) =>
      nodes.flatMap(({ properties, additionalProperties, items }) =>
        all(key === "*" ? items : Object(properties)[key] ?? additionalProperties)
      ),
    all(schema),
  );
}
