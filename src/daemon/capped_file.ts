/** A file of lines that does not grow for ever. */

/**
 * Appends each line at once, and keeps one older file, called `.1`. The file is the user's alone, and
 * made again where somebody removed it. Never throws: a full disk must not end the supervising.
 */
export class CappedFile implements Disposable {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #encoder = new TextEncoder();
  #file: Deno.FsFile | undefined;
  #size = 0;

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  /** Appends a value as a line of JSON, which keeps a foreign text from looking like lines of ours. */
  append(value: unknown): void {
    const line = this.#encoder.encode(`${JSON.stringify(value)}\n`);
    try {
      if (this.#size + line.length > this.#maxBytes) this.#rotate();
      this.#size += this.#opened().writeSync(line);
    } catch {
      // The next line may find room.
    }
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #opened(): Deno.FsFile {
    if (this.#file?.statSync().nlink === 0) this[Symbol.dispose]();
    if (this.#file === undefined) {
      this.#file = Deno.openSync(this.#path, { append: true, create: true, mode: 0o600 });
      this.#size = this.#file.statSync().size;
    }
    return this.#file;
  }

  #rotate(): void {
    this[Symbol.dispose]();
    this.#size = 0;
    Deno.renameSync(this.#path, `${this.#path}.1`);
  }
}
