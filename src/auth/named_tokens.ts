/** Tokens with a name and a role. Their hashes are kept in a file that only the user can read. */

import { ProcsupError } from "../model/errors.ts";
import { removeFile } from "../platform/atomic_file.ts";
import { copyOf, readState, writeState } from "../platform/state_file.ts";
import { lstatIfAny } from "../platform/stat.ts";
import { type Role, ROLES } from "../protocol/verbs/verb.ts";

/** A token without its secret. */
interface NamedToken {
  readonly name: string;
  readonly role: Role;
  /** Creation time, as ISO 8601. */
  readonly created_at: string;
}

interface Entry extends NamedToken {
  /** SHA-256 of the token, in hex. */
  readonly sha256: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MAX_TOKENS = 1000;

export class NamedTokens {
  readonly #path: string;
  readonly #warn: (message: string) => void;
  #entries: Map<string, Entry> | undefined;

  constructor(path: string, warn: (message: string) => void = () => {}) {
    this.#path = path;
    this.#warn = warn;
  }

  /** Creates a token and returns it; it cannot be shown again. Throws `name_taken` or `bad_request`. */
  async create(name: string, role: Role): Promise<{ token: string } & NamedToken> {
    if (!NAME.test(name)) {
      throw new ProcsupError(
        "bad_request",
        `Invalid name ${JSON.stringify(name)}: expected up to 64 letters, digits, ".", "_" or "-"`,
      );
    }
    this.#refuseTaken(name);
    const token = `ps_${crypto.getRandomValues(new Uint8Array(32)).toHex()}`;
    const sha256 = await hashOf(token);
    this.#refuseTaken(name);
    const shown: NamedToken = { name, role, created_at: new Date().toISOString() };
    this.#write(new Map([...this.#all(), [name, { ...shown, sha256 }]]));
    return { token, ...shown };
  }

  /** All tokens, sorted by name. */
  list(): NamedToken[] {
    return [...this.#all().values()]
      .map(({ name, role, created_at }) => ({ name, role, created_at }))
      .sort((a, b) => a.name < b.name ? -1 : 1);
  }

  /** Creation time of a token; undefined if no token has that name. */
  madeAt(name: string): string | undefined {
    return this.#all().get(name)?.created_at;
  }

  /** Revokes a token at once. Throws `not_found`. If it cannot be saved, the token stays valid. */
  revoke(name: string): void {
    const rest = new Map(this.#all());
    if (!rest.delete(name)) {
      throw new ProcsupError("not_found", `No token ${JSON.stringify(name)}`, {
        hint: "procsup token list",
      });
    }
    this.#write(rest);
  }

  /** Finds the token of a secret. Comparing hashes does not reveal the secret through timing. */
  async find(secret: string): Promise<NamedToken | undefined> {
    if (this.#all().size === 0) return undefined;
    const hash = await hashOf(secret);
    return [...this.#all().values()].find(({ sha256 }) => sha256 === hash);
  }

  #refuseTaken(name: string): void {
    if (this.#all().has(name)) {
      throw new ProcsupError("name_taken", `Token "${name}" exists already`, {
        hint: `procsup token revoke ${name}`,
      });
    }
    if (this.#all().size >= MAX_TOKENS) {
      throw new ProcsupError("bad_request", `Too many tokens: limit ${MAX_TOKENS}`);
    }
  }

  #all(): Map<string, Entry> {
    return this.#entries ??= new Map(this.#read().map((entry) => [entry.name, entry]));
  }

  /** Reads the file. A damaged one is set aside, which invalidates its tokens. */
  #read(): readonly Entry[] {
    // Removing the file revokes all tokens: its backup copy must not restore them.
    if (lstatIfAny(this.#path) === undefined) removeFile(copyOf(this.#path));
    const { value = [], problems } = readState(this.#path, (value) => {
      const { tokens } = value as { readonly tokens: readonly Entry[] };
      return tokens.filter(({ role }) => ROLES.includes(role));
    });
    for (const problem of problems) this.#warn(problem);
    return value;
  }

  #write(entries: Map<string, Entry>): void {
    const tokens = [...entries.values()];
    writeState(this.#path, { version: 1, tokens }, { durable: true });
    this.#entries = entries;
  }
}

async function hashOf(secret: string): Promise<string> {
  const bytes = new TextEncoder().encode(secret);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
