/** Reads a supervisord configuration, which is ini, with its included files. */

import { type ConfigDocument, placeOfLine } from "../document.ts";
import { ConfigProblem } from "../problem.ts";
import { readText } from "../read_document.ts";
import { ifPossible } from "../../model/errors.ts";
import { nameTest } from "../../model/glob.ts";
import { dirname, resolve } from "../../npm/path.js";
import { lookAt } from "../../platform/stat.ts";

interface SupervisordFiles {
  /** Sections with unique names. Later files override keys of earlier ones. */
  readonly sections: readonly Section[];
  /** Patterns in `[include]` that match no file. */
  readonly unmatched: readonly string[];
}

/** Reads the files. Throws `ConfigProblem` if one is not valid ini, or if there is no program. */
export function readSupervisord({ file, text }: ConfigDocument): SupervisordFiles {
  const sections = new Map<string, Section>();
  lay(sections, file, text);
  const patterns = (sections.get("include")?.keys.get("files") ?? "").split(/\s+/).filter(Boolean);
  const unmatched: string[] = [];
  for (const pattern of patterns) {
    const files = matches(resolve(dirname(file), pattern));
    if (files.length === 0) unmatched.push(pattern);
    for (const included of files) lay(sections, included, readText(included));
  }
  sections.delete("include");
  if ([...sections.keys()].some((name) => name.startsWith("program:"))) {
    return { sections: [...sections.values()], unmatched };
  }
  const none = unmatched.length === 0 ? "" : `, and nothing matches ${unmatched.join(" ")}`;
  throw new ConfigProblem(file, `no [program:…] section${none}`);
}

/** Adds the sections of a file. `%(here)s` becomes its folder. */
function lay(sections: Map<string, Section>, file: string, text: string): void {
  const here = dirname(file);
  for (const { name, keys } of parseIni(file, text)) {
    const before = sections.get(name) ?? { name, keys: new Map<string, string>() };
    for (const [key, value] of keys) {
      const placed = value.replace(/%%|%\(here\)s/g, (found) => found === "%%" ? found : here);
      before.keys.set(key, placed);
    }
    sections.set(name, before);
  }
}

/** The files that match an absolute pattern of `*`, `?` and `[…]`, sorted. */
function matches(pattern: string): string[] {
  let found = [""];
  for (const part of pattern.split("/").slice(1)) {
    found = /[*?[]/.test(part)
      ? found.flatMap((folder) => namesIn(folder, part).map((name) => `${folder}/${name}`))
      : found.map((folder) => `${folder}/${part}`);
  }
  return found.filter((path) => lookAt(path)?.isFile).toSorted();
}

function namesIn(folder: string, pattern: string): string[] {
  const isWanted = nameTest(pattern);
  const entries = ifPossible(() => [...Deno.readDirSync(folder || "/")]) ?? [];
  return entries.map(({ name }) => name)
    .filter((name) => isWanted(name) && (!name.startsWith(".") || pattern.startsWith(".")));
}

export interface Section {
  readonly name: string;
  readonly keys: Map<string, string>;
}

/**
 * The sections in order, with the keys in lower case, as supervisord takes them. Indented lines
 * continue the value above. Throws `ConfigProblem`.
 */
export function parseIni(file: string, text: string): Section[] {
  const sections: Section[] = [];
  let last: string | undefined;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = withoutComment(raw);
    const keys = sections.at(-1)?.keys;
    const header = /^\[([^\]]+)\]\s*$/.exec(line);
    const pair = pairIn(line);
    if (line.trim() === "") continue;
    if (header !== null) {
      sections.push({ name: header[1]!.trim(), keys: new Map() });
      last = undefined;
    } else if (/^\s/.test(line) && last !== undefined && keys !== undefined) {
      const before = keys.get(last)!;
      keys.set(last, before === "" ? line.trim() : `${before}\n${line.trim()}`);
    } else if (pair !== undefined && keys !== undefined) {
      last = pair.key;
      keys.set(last, pair.value);
    } else {
      throw new ConfigProblem(file, "not valid ini: expected [section] or key=value", {
        place: placeOfLine(file, text, index),
      });
    }
  }
  return sections;
}

/** A comment starts a line, or follows a space, as in supervisor 4 on Python 3. */
function withoutComment(line: string): string {
  if (/^\s*[;#]/.test(line)) return "";
  const at = line.search(/\s[;#]/);
  return at < 0 ? line : line.slice(0, at);
}

function pairIn(line: string): { readonly key: string; readonly value: string } | undefined {
  const at = line.search(/[=:]/);
  if (at < 1 || /^\s/.test(line)) return undefined;
  return { key: line.slice(0, at).trimEnd().toLowerCase(), value: line.slice(at + 1).trim() };
}
