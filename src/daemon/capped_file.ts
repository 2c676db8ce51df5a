/** A file of lines that does not grow for ever. */

/** Appends each line at once, and keeps one older file, called `.1`. The file is the user's alone. */
export class CappedFile implements Disposable {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #encoder = new TextEncoder();
  #file: Deno.FsFile;
  #size: number;

  /** Opens it, and makes it where it is not there. Throws as the system does. */
  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#file = open(path);
    this.#size = this.#file.statSync().size;
  }

  /** Appends a value as a line of JSON, which keeps a foreign text from looking like lines of ours. */
  append(value: unknown): void {
    const line = this.#encoder.encode(`${JSON.stringify(value)}\n`);
    try {
      if (this.#size + line.length > this.#maxBytes) this.#rotate();
      this.#size += this.#file.writeSync(line);
    } catch {
      // A full disk must not end the supervising.
    }
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  #rotate(): void {
    Deno.renameSync(this.#path, `${this.#path}.1`);
    this.#file.close();
    this.#file = open(this.#path);
    this.#size = 0;
  }
}

function open(path: string): Deno.FsFile {
  return Deno.openSync(path, { append: true, create: true, mode: 0o600 });
}
