/** Reads unit files of systemd, with their drop-ins. */

import { ifPossible } from "../model/errors.ts";
import { basename, dirname, join } from "@std/path";
import { lookAt } from "../platform/files/stat.ts";
import type { Path, Place } from "../config/document.ts";
import { ConfigProblem } from "../config/problem.ts";
import { readText } from "../config/read_document.ts";

export type Values = readonly string[];

/** Sections with all values of their settings. */
export type Sections = Map<string, Map<string, string[]>>;

export interface Unit {
  readonly file: string;
  readonly sections: Sections;
  readonly placeOf: (path: Path) => Place | undefined;
}

/** A unit with its drop-ins: `NAME.d/*.conf` beside it. */
export function readUnit(file: string, text: string): Unit {
  const sections: Sections = new Map();
  const places = new Map<string, Place>();
  const add = (one: string, content: string) =>
    addSections(one, content, sections, (path, line) => {
      places.set(path.join("\n"), { file: one, line, column: 1 });
    });
  add(file, text);
  for (const one of dropInsOf(file)) add(one, readText(one));
  return {
    file,
    sections,
    placeOf: ([section = "", key = ""]) =>
      places.get(`${section}\n${key}`) ?? places.get(`Unit\n${key}`) ?? places.get(`${section}`),
  };
}

/** The drop-ins of a unit in order; those of a template are for its instances too. */
function dropInsOf(file: string): string[] {
  const name = basename(file);
  const folders = [...new Set([name.replace(/@[^.]+(?=\.)/, "@"), name])]
    .map((one) => join(dirname(file), `${one}.d`));
  const files = folders.flatMap((folder) => {
    const entries = ifPossible(() => [...Deno.readDirSync(folder)]) ?? [];
    return entries.map(({ name }) => join(folder, name)).filter((path) =>
      path.endsWith(".conf") && lookAt(path)?.isFile
    );
  });
  return files.sort((a, b) => basename(a) < basename(b) ? -1 : 1);
}

/** An empty value discards those before it. */
function addSections(
  file: string,
  text: string,
  sections: Sections,
  isAt: (path: readonly string[], line: number) => void,
): void {
  let name = "";
  let section: Map<string, string[]> | undefined;
  let begun = "";
  for (const [index, raw] of [...text.split(/\r?\n/), ""].entries()) {
    if (/^[#;]/.test(raw.trim())) continue;
    const whole = begun + raw;
    begun = whole.endsWith("\\") ? `${whole.slice(0, -1)} ` : "";
    const line = whole.trim();
    if (line === "" || begun !== "") continue;
    const [, header] = /^\[(.+)\]$/.exec(line) ?? [];
    const [, key, value] = /^([\w-]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (header !== undefined) {
      name = header;
      section = sections.get(header) ?? new Map<string, string[]>();
      sections.set(header, section);
      isAt([name], index + 1);
    } else if (key !== undefined && section !== undefined) {
      section.set(key, value === "" ? [] : [...section.get(key) ?? [], value!]);
      isAt([name, key], index + 1);
    } else {
      throw new ConfigProblem(file, "not a unit file: expected [section] or Key=value", {
        place: { file, line: index + 1, column: 1 },
      });
    }
  }
}
