/** Reads the files of a configuration in merge order: extended files first. */

import { shellWord } from "../model/shell_line.ts";
import { basename, dirname, resolve } from "../npm/path.js";
import { type ConfigDocument, isMap, placeIn, Places } from "./document.ts";
import { foreignFormat } from "./import/foreign.ts";
import { ConfigProblem, INLINE_FILE, type Note } from "./problem.ts";
import { checkedDocument, readDocument } from "./read_document.ts";

export interface ReadRequest {
  readonly files: readonly string[];
  readonly inline?: object;
  /** Replaces the content of a file. */
  readonly content?: { readonly file: string; readonly text: string };
  readonly env: Readonly<Record<string, string>>;
  readonly profile?: string;
}

export interface ReadFiles {
  readonly documents: readonly ConfigDocument[];
  readonly notes: readonly Note[];
}

/** Reads files and the files that they extend. Throws `ConfigProblem`. */
export async function readFiles(request: ReadRequest): Promise<ReadFiles> {
  const documents = new Map<string, ConfigDocument>();
  const notes: Note[] = [];
  const read = async (file: string, trail: readonly string[]): Promise<void> => {
    if (trail.includes(file)) {
      throw new ConfigProblem(file, `files extend each other: ${[...trail, file].join(" → ")}`);
    }
    if (documents.has(file)) return;
    const given = request.content?.file === file ? request.content.text : undefined;
    const document = await readDocument(file, request.env, given);
    const foreign = foreignFormat(document);
    if (foreign !== undefined) {
      if (foreign.convertOnly) {
        throw new ConfigProblem(file, `${foreign.name} files must be converted`, {
          advice: `procsup import ${foreign.name} ${shellWord(basename(file))} --out procsup.yaml`,
        });
      }
      const { processes, profiles = {}, run, notes: more } = foreign.convert(
        document,
        request,
      );
      notes.push(...more);
      const value = { processes, profiles, ...(run && { run }) };
      documents.set(file, { file, text: "", value, places: new Places(), imported: true });
      return;
    }
    for (const base of bases(document)) {
      await read(resolve(dirname(file), base), [...trail, file]);
    }
    documents.set(file, document);
  };
  for (const file of request.files) await read(file, []);
  if (request.inline !== undefined) {
    const document = inlineDocument(request.inline);
    for (const base of bases(document)) await read(resolve("/", base), [document.file]);
    documents.set(document.file, document);
  }
  return { documents: [...documents.values()], notes };
}

/** The document for a value that was sent in place of a file. */
function inlineDocument(value: object): ConfigDocument {
  return checkedDocument({ file: INLINE_FILE, text: "", value, places: new Places() });
}

function bases(document: ConfigDocument): string[] {
  const given = isMap(document.value) ? document.value.extends : undefined;
  const list = given === undefined || given === null ? [] : Array.isArray(given) ? given : [given];
  if (list.every((item) => typeof item === "string" && item !== "")) return list as string[];
  const place = placeIn(document, ["extends"]);
  throw new ConfigProblem(document.file, "extends: expected a path, or a list of paths", {
    place,
  });
}
