/**
 * The ids of processes in trouble, on disk: one line for each that got into trouble or recovered.
 * Written before webhooks are sent, so that a later daemon knows whose recovery to report.
 */

import { appendToFile, readFileIfAny, replaceFile } from "../../platform/atomic_file.ts";

/** Number of superfluous lines at which the file is rewritten. */
const SPARE_LINES = 1000;

/** A set of UUIDs that outlives the daemon. If the disk is full, only reports of recovery are lost. */
export class Troubled {
  readonly #path: string;
  readonly #ids: Set<string>;
  #lines = Infinity;

  constructor(path: string) {
    this.#path = path;
    this.#ids = read(path);
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    this.#write(`+${id}`);
  }

  delete(id: string): void {
    if (this.#ids.delete(id)) this.#write(`-${id}`);
  }

  #write(line: string): void {
    try {
      // Start with the newline: a line cut off by a full disk then spoils only itself.
      if (this.#lines < this.#ids.size + SPARE_LINES && appendToFile(this.#path, `\n${line}`)) {
        this.#lines++;
        return;
      }
      replaceFile(this.#path, this.ids.map((id) => `+${id}`).join("\n"));
      this.#lines = this.#ids.size;
    } catch {
      // A full disk is reported elsewhere.
    }
  }
}

function read(path: string): Set<string> {
  const ids = new Set<string>();
  for (const line of readFileIfAny(path)?.split("\n") ?? []) {
    if (line.startsWith("+")) ids.add(line.slice(1));
    else ids.delete(line.slice(1));
  }
  return ids;
}
