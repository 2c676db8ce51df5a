/** Finds the lines of apps and their keys in a program, whose value has no positions. */

import { type ConfigDocument, type Path, placeAt, placeIn } from "../config/document.ts";
import { readText } from "../config/read_document.ts";
import type { PlaceOf } from "./import_result.ts";

type App = Readonly<Record<string, unknown>>;

/** Where the apps of a file are. In a program, by the text of their keys. */
export function pm2Places(document: ConfigDocument, apps: readonly App[]): PlaceOf {
  if (document.text !== "") return (path) => placeIn(document, path, "key");
  let source: string | undefined;
  return (path) => {
    source ??= readText(document.file);
    const offset = offsetOf(path, apps, source);
    return offset === undefined ? undefined : placeAt(document.file, source, offset);
  };
}

/** The offset of the innermost key of a path that is found; undefined if none is. */
function offsetOf(path: Path, apps: readonly App[], source: string): number | undefined {
  const index = path.find((part) => typeof part === "number");
  const key = path.findLast((part) => typeof part === "string");
  if (index === undefined) return key === undefined ? undefined : offsetsOf(key, source)[0];
  const app = apps[index];
  const keys = path.slice(path.indexOf(index) + 1).filter((part) => typeof part === "string");
  const [own] = keys;
  for (const name of [keys.length > 1 ? keys.at(-1)! : own, own, "name", "script"]) {
    if (name === undefined) continue;
    const found = offsetsOf(name, source);
    if (found.length === 1) return found[0];
    // As many as there are apps with the key: they are in the same order.
    const having = apps.filter((one) => one[name] !== undefined);
    if (found.length === having.length && app !== undefined && having.includes(app)) {
      return found[having.indexOf(app)];
    }
  }
  return undefined;
}

/** The offsets of a key in a source, outside of comments. */
function offsetsOf(key: string, source: string): number[] {
  const name = key.replace(/[^\w]/g, "\\$&");
  const found = source.matchAll(new RegExp(`(?<=^|[\\s,{])["']?${name}["']?\\s*:`, "g"));
  return [...found].map(({ index }) => index)
    .filter((index) => !/\/\//.test(source.slice(source.lastIndexOf("\n", index) + 1, index)));
}
