/** The secret that every request but `ping` must carry. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { sameText } from "../model/secret_values.ts";
import { replaceFile } from "../platform/files/atomic_file.ts";
import { lstatIfAny } from "../platform/files/stat.ts";

const TOKEN = /^[0-9a-f]{64}$/;

/** The daemon's token: 256 bits, in a file that only its user can read. */
export class Token {
  readonly #path: string;
  #value: string;

  constructor(path: string) {
    this.#path = path;
    this.#value = existing(path) ?? this.rotate();
  }

  get value(): string {
    return this.#value;
  }

  /** Replaces the token. The old one becomes invalid at once, unless the new one cannot be saved. */
  rotate(): string {
    const value = crypto.getRandomValues(new Uint8Array(32)).toHex();
    replaceFile(this.#path, `${value}\n`);
    return this.#value = value;
  }

  /** Restores the file. Returns false if it was intact. */
  putBack(): boolean {
    if (existing(this.#path) === this.#value) return false;
    replaceFile(this.#path, `${this.#value}\n`);
    return true;
  }

  /** Whether an `Authorization` header carries the token. Takes constant time. */
  accepts(header: string | undefined): boolean {
    const given = header?.match(/^Bearer (.+)$/i)?.[1] ?? "";
    return sameText(given.trim(), this.#value);
  }
}

/** The token in the file; undefined if it is missing or damaged. Throws `home_unusable` if it is unreadable. */
function existing(path: string): string | undefined {
  try {
    if (lstatIfAny(path)?.isFile !== true) return undefined;
    Deno.chmodSync(path, 0o600);
    const text = Deno.readTextFileSync(path).trim();
    return TOKEN.test(text) ? text : undefined;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return undefined;
    const message = `Cannot read the token "${path}": ${messageOf(cause).split(":")[0]}`;
    throw new ProcsupError("home_unusable", message, { cause });
  }
}
