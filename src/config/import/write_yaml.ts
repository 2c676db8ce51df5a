/** A converted configuration as the text of a procsup.yaml, what was lost as comments. */

import { isMap } from "../document.ts";
import type { Imported, Note } from "./imported.ts";

/** The text. */
export async function importedYaml(imported: Imported, from: string): Promise<string> {
  const yaml = await import("../../npm/yaml.ts");
  const { processes, profiles = {}, notes } = imported;
  const document = new yaml.Document(escaped({
    version: 1,
    processes,
    ...(Object.keys(profiles).length === 0 ? {} : { profiles }),
  }));
  const head = [`Made from ${from} by procsup import.`, ...about(notes, undefined)];
  document.commentBefore = comment(head);
  const made = document.get("processes");
  if (yaml.isMap(made)) {
    for (const { key } of made.items) {
      const lines = yaml.isScalar(key) ? about(notes, String(key.value)) : [];
      if (lines.length > 0 && yaml.isScalar(key)) key.commentBefore = comment(lines);
    }
  }
  return document.toString({ lineWidth: 0 });
}

function about(notes: readonly Note[], process: string | undefined): string[] {
  return notes.filter((note) => note.process === process).map(({ text }) => `not taken: ${text}`);
}

function comment(lines: readonly string[]): string {
  return lines.map((line) => ` ${line.replaceAll("\n", " ")}`).join("\n");
}

/** Keys in whose texts, and in those of what they hold, variables are filled in. */
const FILLED: ReadonlySet<string> = new Set(["env", "args", "sockets", "url", "tcp_endpoint"]);

/** `$` is doubled where it would begin a variable of ours. */
function escaped(value: unknown, within = ""): unknown {
  if (typeof value === "string") {
    return FILLED.has(within) ? value.replace(/\$(?=[${])/g, "$$$$") : value;
  }
  if (Array.isArray(value)) return value.map((item) => escaped(item, within));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      escaped(inner, FILLED.has(within) ? within : key),
    ]),
  );
}
