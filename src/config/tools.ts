/**
 * The other tools whose files procsup reads. This room knows none of them: the program offers them,
 * and without that only procsup's own files are read.
 */

import type { ConfigDocument, Origins } from "./document.ts";
import type { Note } from "./problem.ts";

/** How the text of a file becomes a value. */
export type Format = "yaml" | "toml" | "json" | "jsonc" | "module" | "text";

export interface Tool {
  readonly name: string;
  /** Names of its files, and their kinds. A name with a slash is matched as a path. */
  readonly files: readonly (readonly [name: RegExp, kind: string])[];
  /** The kind of its files with other names: a format, or a kind of this tool alone. */
  readonly kind: string;
  /** The format of that kind. */
  readonly format: Format;
  /** The names that are searched in a folder, in this order. */
  readonly searched?: readonly string[];
  /** Set if too much is lost to run its files directly: they must be converted and reviewed first. */
  readonly convertOnly?: true;
  /** Names of JSON files that may be JavaScript expressions. */
  readonly expressions?: RegExp;
  /** Loads its importer. */
  readonly importer: () => Promise<Importer>;
}

/** The importer of another tool. */
export interface Importer {
  /** Whether a document belongs to this tool. */
  matches(document: ConfigDocument & { readonly kind: string }): boolean;
  /** Throws `ConfigProblem` if the document is invalid. */
  convert(document: ConfigDocument, context: ImportContext): Imported | Promise<Imported>;
}

/** Input of a conversion besides the file. */
export interface ImportContext {
  readonly env: Readonly<Record<string, string>>;
  /** Whether `procsup run` starts the processes. */
  readonly inForeground?: boolean | undefined;
  /** Whether the result is written to a file, where a secret does not belong. */
  readonly isWritten?: boolean;
  /** Whether to run containers with `docker run`. */
  readonly withDocker?: boolean;
}

/** The result of converting another tool's file. */
export interface Imported {
  readonly processes: Readonly<Record<string, Keys>>;
  readonly profiles?: Readonly<Record<string, { processes: Record<string, Keys> }>>;
  /** Settings of `procsup run`: processes whose end or failure stops everything. */
  readonly run?: Keys;
  /** Variables of the environment that the result depends on. */
  readonly uses?: readonly string[];
  readonly notes: readonly Note[];
  readonly origins: Origins;
}

/** Keys of a process, as in a procsup file. */
export type Keys = Record<string, unknown>;

let offered: readonly Tool[] = [];

/** Called by the program at its start. */
export function offerTools(tools: readonly Tool[]): void {
  offered = tools;
}

/** In the order of the search. */
export function offeredTools(): readonly Tool[] {
  return offered;
}
