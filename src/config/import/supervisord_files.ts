/** Reads a supervisord configuration with its included files. */

import { ifPossible } from "../../model/errors.ts";
import { nameTest } from "../../model/glob.ts";
import { dirname, resolve } from "../../npm/path.js";
import { lookAt } from "../../platform/stat.ts";
import type { ConfigDocument } from "../document.ts";
import { ConfigProblem } from "../problem.ts";
import { readText } from "../read_document.ts";
import { parseIni, type Section } from "./ini.ts";

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
