/** The daemon's own log: JSON lines, capped in size. */

const MAX_BYTES = 5 * 1024 * 1024;

/**
 * Appends each line at once, and keeps one older file. By hand: the logging library brings `node:util`
 * with it, which is 8 MB of memory in every daemon for a dozen lines a day.
 */
export class DaemonLog implements Disposable {
  readonly #path: string;
  readonly #encoder = new TextEncoder();
  #file: Deno.FsFile;
  #size: number;

  constructor(path: string) {
    this.#path = path;
    this.#file = open(path);
    this.#size = this.#file.statSync().size;
  }

  /** What it does. */
  info(message: string): void {
    this.#write("info", message);
  }

  /** What somebody should look at. */
  warn(message: string): void {
    this.#write("warning", message);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** JSON keeps a foreign text from looking like lines of our own. */
  #write(level: string, message: string): void {
    const entry = { at: new Date().toISOString(), level, message };
    const line = this.#encoder.encode(`${JSON.stringify(entry)}\n`);
    try {
      if (this.#size + line.length > MAX_BYTES) this.#rotate();
      this.#size += this.#file.writeSync(line);
    } catch {
      // A full disk must not end the supervising.
    }
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
