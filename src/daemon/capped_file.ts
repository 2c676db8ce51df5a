/** Files of lines with limited size, such as the daemon's own log. */

/**
 * Appends each line at once, and keeps one older file with the suffix `.1`. Only the user can read it.
 * A removed file is created again. Never throws: a full disk must not stop supervision.
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

  /** Appends a value as a line of JSON, so that text of apps cannot forge a line. */
  append(value: unknown): void {
    const line = this.#encoder.encode(`${JSON.stringify(value)}\n`);
    try {
      let file = this.#opened();
      if (this.#size + line.length > this.#maxBytes) file = this.#rotated();
      this.#size += file.writeSync(line);
    } catch {
      // Out of space, perhaps: try again with the next line.
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

  #rotated(): Deno.FsFile {
    this[Symbol.dispose]();
    Deno.renameSync(this.#path, `${this.#path}.1`);
    return this.#opened();
  }
}

/** Size of each of the two files of the log. */
const MAX_LOG_BYTES = 5 * 1024 * 1024;

/**
 * The daemon's log. It does without a logging library: that would load `node:util`, 8 MB of memory in
 * every daemon.
 */
export class DaemonLog extends CappedFile {
  constructor(path: string) {
    super(path, MAX_LOG_BYTES);
  }

  info(message: string): void {
    this.append({ at: new Date().toISOString(), level: "info", message });
  }

  warn(message: string): void {
    this.append({ at: new Date().toISOString(), level: "warning", message });
  }
}
