/** Reads ini files as supervisord and circus do: sections, keys, and the lines they are on. */

import { dirname } from "@std/path";
import type { Path, Place } from "../config/document.ts";
import { ConfigProblem } from "../config/problem.ts";

/** Names of sections → their keys and values. */
export type Sections = Map<string, Map<string, string>>;

export interface Ini {
  readonly sections: Sections;
  /** The place of a section, or of a key in it. */
  readonly placeOf: (path: Path) => Place | undefined;
  /** Adds the sections of a file, whose keys override earlier ones. */
  readonly add: (file: string, text: string) => void;
}

/** Whether the value of a key is a word for true. */
export function isTrue(value = ""): boolean {
  return /^(1|true|yes|on)$/i.test(value);
}

/** Sections in order, with the keys in lower case. `%(here)s` becomes the folder of the file. */
export function emptyIni(): Ini {
  const sections: Sections = new Map();
  const places = new Map<string, Place>();
  return {
    sections,
    placeOf: ([section, key]) =>
      places.get(JSON.stringify([section, key])) ?? places.get(JSON.stringify([section])),
    add: (file, text) => {
      addSections(file, text, sections, (path, line) => {
        places.set(JSON.stringify(path), { file, line, column: 1 });
      });
    },
  };
}

/** Indented lines continue the value above. Throws `ConfigProblem`. */
function addSections(
  file: string,
  text: string,
  sections: Sections,
  isAt: (path: Path, line: number) => void,
): void {
  const here = dirname(file);
  const placed = (value: string) =>
    value.trim().replace(/%%|%\(here\)s/g, (found) => found === "%%" ? found : here);
  let section = "";
  let keys: Map<string, string> | undefined;
  let last: string | undefined;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    // A comment starts a line, or follows a space, as in supervisor 4 on Python 3.
    const line = raw.replace(/(^|\s)[;#].*$/s, "");
    const [, header] = /^\[([^\]]+)\]\s*$/.exec(line) ?? [];
    const [, key, value] = /^([^\s=:][^=:]*)[=:](.*)$/s.exec(line) ?? [];
    if (line.trim() === "") continue;
    if (header !== undefined) {
      section = header.trim();
      keys = sections.get(section) ?? new Map();
      sections.set(section, keys);
      isAt([section], index + 1);
      last = undefined;
    } else if (/^\s/.test(line) && last !== undefined && keys !== undefined) {
      const before = keys.get(last)!;
      keys.set(last, before === "" ? placed(line) : `${before}\n${placed(line)}`);
    } else if (key !== undefined && keys !== undefined) {
      last = key.trimEnd().toLowerCase();
      keys.set(last, placed(value!));
      isAt([section, last], index + 1);
    } else {
      throw new ConfigProblem(file, "not valid ini: expected [section] or key=value", {
        place: { file, line: index + 1, column: 1 },
      });
    }
  }
}
