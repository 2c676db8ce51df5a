/** The result of converting another tool's file. */

import { nameFromPath, nameProblem } from "../../model/name.ts";
import type { ConfigDocument } from "../document.ts";

/** Keys of one process, as in a procsup file. */
export type Keys = Record<string, unknown>;

/** A part that procsup does not support, or does differently. */
export interface Note {
  /** The process; undefined for the whole file. */
  readonly process: string | undefined;
  /** `key: why`. */
  readonly text: string;
}

/** A converted file. */
export interface Imported {
  readonly processes: Readonly<Record<string, Keys>>;
  readonly profiles?: Readonly<Record<string, { processes: Record<string, Keys> }>>;
  readonly notes: readonly Note[];
}

/** Input of a conversion beside the file. */
export interface ImportContext {
  readonly env: Readonly<Record<string, string>>;
}

/** One other tool. */
export interface Importer {
  readonly name: string;
  /** Whether a document is of this tool. */
  matches(document: ConfigDocument & { readonly kind: string }): boolean;
  /** Throws `ConfigProblem` when it is not. */
  convert(document: ConfigDocument, context: ImportContext): Imported;
}

/** Collects processes under valid names, and notes. */
export class ImportResult {
  readonly processes: Record<string, Keys> = {};
  readonly notes: Note[] = [];

  /** Adds a process; returns the name it got. */
  add(name: string, keys: Keys): string {
    const taken = this.freeName(name);
    const set = Object.entries(keys).filter(([, value]) => !isEmpty(value));
    this.processes[taken] = Object.fromEntries(set);
    return taken;
  }

  /** The name if it is valid and free, else a similar one. */
  freeName(name: string): string {
    const valid = nameProblem(name) === undefined ? name : nameFromPath(name.replaceAll("/", "-"));
    let free = valid;
    for (let n = 2; Object.hasOwn(this.processes, free); n++) free = `${valid}-${n}`;
    if (free !== name) this.note(free, `name: "${name}" became "${free}"`);
    return free;
  }

  /** Adds a note about a process, or about the file. */
  note(process: string | undefined, text: string): void {
    this.notes.push({ process, text });
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null ||
    (typeof value === "object" && Object.keys(value).length === 0);
}

/** Milliseconds as a duration; other values unchanged. */
export function ms(value: unknown): unknown {
  return /^\d+(\.\d+)?$/.test(String(value)) ? `${Number(value)}ms` : value;
}

/** Seconds as a duration; other values unchanged. */
export function seconds(value: unknown): unknown {
  return /^\d+(\.\d+)?$/.test(String(value)) ? `${Number(value)}s` : value;
}

/** Every value of a map as text. */
export function texts(map: object): Record<string, string> {
  const set = Object.entries(map).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    set.map(([key, value]) => [
      key,
      typeof value === "object" ? JSON.stringify(value) : String(value),
    ]),
  );
}
