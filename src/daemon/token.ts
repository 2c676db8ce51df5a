/** The secret that every request but `ping` must carry. */

import { sameText } from "../model/same_text.ts";
import { replaceFile } from "../platform/atomic_file.ts";

const TOKEN = /^[0-9a-f]{64}$/;

/** The daemon's token: 256 bits, in a file that only its user can read. */
export class Token {
  readonly #path: string;
  #value: string;

  constructor(path: string) {
    this.#path = path;
    this.#value = existing(path) ?? this.rotate();
  }

  /** The token as text. */
  get value(): string {
    return this.#value;
  }

  /** Replaces the token; the old one is worthless at once. */
  rotate(): string {
    this.#value = crypto.getRandomValues(new Uint8Array(32)).toHex();
    replaceFile(this.#path, `${this.#value}\n`);
    return this.#value;
  }

  /** Whether an `Authorization` header carries the token. Takes as long for a near miss as for a far one. */
  accepts(header: string | undefined): boolean {
    const given = header?.match(/^Bearer (.+)$/i)?.[1] ?? "";
    return sameText(given.trim(), this.#value);
  }
}

function existing(path: string): string | undefined {
  try {
    if (Deno.lstatSync(path).isSymlink) return undefined;
    Deno.chmodSync(path, 0o600);
    const text = Deno.readTextFileSync(path).trim();
    return TOKEN.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
