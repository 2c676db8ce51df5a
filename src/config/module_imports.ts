/** What `import` means inside a configuration that is a program. */

import { readForeignFile } from "../platform/foreign_file.ts";
import { readJson } from "./read_json.ts";

/**
 * Our own helper by the names it is imported by. It is given to the module as text: where procsup is
 * one executable, there is no file of it, and nothing is fetched for a configuration.
 */
const HELPER = /(?:(?:jsr|npm):)?@procsup\/procsup(?:@[^/"'`\s]+)?\/config(?=["'`])/g;
const HELPER_TEXT = "data:text/javascript,export const defineConfig = (config) => config;";

/** The part of an import map that counts here. */
interface ImportMap {
  readonly imports?: Readonly<Record<string, string>>;
  readonly scopes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Flags for Deno, so that a module which imports `defineConfig` by our package's name finds it. */
export function importFlags(file: string): string[] {
  const names = new Set(readForeignFile(file).match(HELPER));
  if (names.size === 0) return [];
  // A map on the command line is instead of the one that Deno would find: it must hold that as well.
  const { imports, scopes } = foundMap(folderOf(file));
  const own = Object.fromEntries([...names].map((name) => [name, HELPER_TEXT]));
  const map = { imports: { ...imports, ...own }, ...(scopes === undefined ? {} : { scopes }) };
  return [`--import-map=data:application/json,${encodeURIComponent(JSON.stringify(map))}`];
}

/** The import map of the nearest deno.json, its addresses made absolute. */
function foundMap(folder: string): ImportMap {
  for (const name of ["deno.json", "deno.jsonc"]) {
    const config = readIfAny(`${folder}/${name}`);
    if (config === undefined) continue;
    const { importMap } = config as { importMap?: string };
    if (importMap === undefined) return resolved(config, `${folder}/${name}`);
    const path = decodeURIComponent(new URL(importMap, fileUrl(`${folder}/`)).pathname);
    return resolved(readIfAny(path) ?? {}, path);
  }
  return folder === "/" ? {} : foundMap(folderOf(folder));
}

function readIfAny(path: string): ImportMap | undefined {
  try {
    return readJson(path, readForeignFile(path), true).value as ImportMap;
  } catch {
    // Not there, or broken: then Deno will say so itself.
    return undefined;
  }
}

function resolved({ imports, scopes }: ImportMap, path: string): ImportMap {
  const absolute = (text: string) =>
    /^\.{0,2}\//.test(text) ? new URL(text, fileUrl(path)).href : text;
  const entries = (map: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(map).map(([key, to]) => [absolute(key), absolute(to)]));
  const inScopes = Object.entries(scopes ?? {}).map(([key, map]) =>
    [absolute(key), entries(map)] as const
  );
  return { imports: entries(imports), scopes: Object.fromEntries(inScopes) };
}

function fileUrl(path: string): string {
  return `file://${path.split("/").map(encodeURIComponent).join("/")}`;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
