/**
 * Reads the files of a configuration in merge order: extended files first. Converts those of other
 * tools.
 */

import { isMap } from "../model/merge_patch.ts";
import { shellWord } from "../model/shell_line.ts";
import { basename, dirname, resolve } from "@std/path";
import { type ConfigDocument, type Origins, type Place, placeIn, Places } from "./document.ts";
import { isOwnName } from "./file_kind.ts";
import { ConfigProblem, INLINE_FILE, type Note } from "./problem.ts";
import { checkedDocument, readDocument } from "./read_document.ts";
import { type Importer, offeredTools, type Tool } from "./tools.ts";

/** Content in place of that of a file. */
export interface FileContent {
  readonly file: string;
  readonly text: string;
  /** Set if it was converted from another tool's file. */
  readonly origins?: Origins;
}

export interface ReadRequest {
  /** Absolute paths; later files override earlier ones. */
  readonly files: readonly string[];
  /** The content of a file, in place of files. Its paths are relative to `/`. */
  readonly inline?: object;
  /** Replaces the content of a file. */
  readonly content?: FileContent;
  /** The environment of files that are programs. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables for `${…}`; they override the `.env` beside a file. Default: `env`. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Whether to accept unset variables, because another machine sets them. */
  readonly assumeVariables?: boolean;
  /** Whether `procsup run` starts the processes. */
  readonly inForeground?: boolean | undefined;
}

interface ReadFiles {
  readonly documents: readonly ConfigDocument[];
  readonly notes: Note[];
  /** Variables that conversions read. */
  readonly uses: readonly string[];
}

/** Reads files and the files that they extend. Throws `ConfigProblem`. */
export async function readFiles(request: ReadRequest): Promise<ReadFiles> {
  const documents = new Map<string, ConfigDocument>();
  const notes: Note[] = [];
  const uses: string[] = [];
  const readOne = async (file: string, trail: readonly string[]): Promise<void> => {
    if (documents.has(file)) return;
    const content = request.content?.file === file ? request.content : undefined;
    const read = await readDocument(file, request.env, { content: content?.text });
    const document = { ...read, ...(content?.origins && { origins: content.origins }) };
    const foreign = await foreignFormat(document);
    if (foreign !== undefined) {
      if (foreign.tool.convertOnly) {
        throw new ConfigProblem(file, `${foreign.tool.name} files must be converted`, {
          advice: `procsup import ${foreign.tool.name} ${
            shellWord(basename(file))
          } --out procsup.yaml`,
        });
      }
      const { inForeground, assumeVariables, variables = request.env } = request;
      const env = assumeVariables ? {} : variables;
      const converted = await foreign.importer.convert(document, { env, inForeground });
      const { processes, profiles = {}, run, origins } = converted;
      notes.push(...converted.notes);
      uses.push(...converted.uses ?? []);
      const value = { processes, profiles, ...(run && { run }) };
      documents.set(file, { file, text: "", value, places: new Places(), origins });
      return;
    }
    await readBases(document, dirname(file), trail);
    documents.set(file, document);
  };
  const readBases = async (document: ConfigDocument, folder: string, trail: readonly string[]) => {
    for (const { base, place } of bases(document)) {
      const path = resolve(folder, base);
      const files = [...trail, document.file];
      if (files.includes(path)) {
        const what = `files extend each other: ${[...files, path].join(" → ")}`;
        throw new ConfigProblem(document.file, what, { place });
      }
      await readOne(path, files).catch((error) => {
        throw extending(error, document, path, place);
      });
    }
  };
  for (const file of request.files) await readOne(file, []);
  if (request.inline !== undefined) {
    const { inline: value } = request;
    const document = checkedDocument({ file: INLINE_FILE, text: "", value, places: new Places() });
    await readBases(document, "/", []);
    documents.set(document.file, document);
  }
  return { documents: [...documents.values()], notes, uses };
}

/** A mistake of a file as a whole, such as a missing one, is shown where the file is named. */
function extending(
  error: unknown,
  { file }: ConfigDocument,
  path: string,
  place: Place | undefined,
): unknown {
  if (!(error instanceof ConfigProblem) || error.place !== undefined) return error;
  const { what, advice } = error;
  return new ConfigProblem(file, `extends "${path}": ${what}`, { place, advice });
}

/** The files that a document extends, and where it names them. */
function bases(document: ConfigDocument) {
  const given = isMap(document.value) ? document.value.extends : undefined;
  const list: unknown[] = [given ?? []].flat();
  if (list.every((item) => typeof item === "string" && item !== "")) {
    return list.map((base, index) => {
      const path = Array.isArray(given) ? ["extends", index] : ["extends"];
      return { base: base as string, place: placeIn(document, path) };
    });
  }
  const place = placeIn(document, ["extends"]);
  throw new ConfigProblem(document.file, "extends: expected a path, or a list of paths", { place });
}

/** A tool, and the reader of its files. */
export interface ForeignFormat {
  readonly tool: Tool;
  readonly importer: Importer;
}

/** The tool that a document belongs to; undefined for procsup. */
export async function foreignFormat(
  document: ConfigDocument & { readonly kind: string },
): Promise<ForeignFormat | undefined> {
  if (isOwnName(document.file)) return undefined;
  for (const tool of offeredTools()) {
    const importer = await tool.importer();
    if (importer.matches(document)) return { tool, importer };
  }
  return undefined;
}
