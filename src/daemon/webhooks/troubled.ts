/**
 * Who is in trouble, on the disk: a line for each that got into it or out of it. Written before anybody
 * is told, so that a daemon killed at any moment leaves a successor who knows whose recovery is news.
 */

import { appendToFile, readFileIfAny, replaceFile } from "../../platform/atomic_file.ts";

/** Lines more than there are in trouble, from which on the file is begun anew. */
const SPARE_LINES = 1000;

/** A set of UUIDs that outlives the daemon. A disk that takes nothing costs only the news of a recovery. */
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
      // The newline comes first: half a line of a full disk spoils none but itself.
      if (this.#lines < this.#ids.size + SPARE_LINES && appendToFile(this.#path, `\n${line}`)) {
        this.#lines++;
        return;
      }
      replaceFile(this.#path, this.ids.map((id) => `+${id}`).join("\n"));
      this.#lines = this.#ids.size;
    } catch {
      // What is full is told elsewhere.
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
