/** YAML → a document with places. */

import type { Document, Node } from "../npm/yaml.ts";
import { type ConfigDocument, type Path, placeAt, Places } from "./document.ts";
import { ConfigProblem } from "./problem.ts";

/** Uses of anchors, nested ones multiplied: enough for a large file, far too few for a bomb. */
const MAX_ALIASES = 10_000;

/** Reads YAML 1.2 with merge keys. Throws `ConfigProblem`. */
export async function readYaml(file: string, text: string): Promise<ConfigDocument> {
  const yaml = await import("../npm/yaml.ts");
  const document = yaml.parseDocument(text, { merge: true, prettyErrors: false, strict: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const [offset, end] = error.pos;
    const what = error.code === "RESOURCE_EXHAUSTION"
      ? "nested too deeply"
      : error.message.split("\n")[0]!.replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase());
    throw new ConfigProblem(file, `not valid YAML: ${what}`, {
      place: placeAt(file, text, { offset, length: end - offset }),
    });
  }
  const places = new Places();
  notePlaces(yaml, document.contents as Node | null, [], places);
  return { file, text, value: plainValue(file, document), places };
}

function plainValue(file: string, document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    const what = error instanceof RangeError
      ? "nested too deeply, or an alias contains itself"
      : (error as Error).message;
    throw new ConfigProblem(file, `not valid YAML: ${what}`);
  }
}

function notePlaces(
  yaml: typeof import("../npm/yaml.ts"),
  node: Node | null,
  path: Path,
  places: Places,
): void {
  if (node?.range) places.setValue(path, spanOf(node));
  if (yaml.isMap(node)) {
    for (const { key, value } of node.items) {
      if (!yaml.isScalar(key)) continue;
      const inner = [...path, String(key.value)];
      places.setKey(inner, spanOf(key));
      notePlaces(yaml, value as Node | null, inner, places);
    }
  } else if (yaml.isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      notePlaces(yaml, item as Node, [...path, index], places);
    }
  }
}

function spanOf(node: Node) {
  const [offset, end] = node.range ?? [0, 0];
  return { offset, length: end - offset };
}
