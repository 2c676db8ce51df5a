/** Tokens with a name and a role. Their hashes are kept in a file that only the user can read. */

import { messageOf, ProcsupError, quote } from "../model/errors.ts";
import { limitProblem } from "../model/target.ts";
import { parseExpiry } from "../model/time_spec.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { removeFile } from "../platform/files/atomic_file.ts";
import { copyOf, readState, writeState } from "../platform/files/state_file.ts";
import { lstatIfAny } from "../platform/files/stat.ts";
import { type Role, ROLES } from "../verbs/verb.ts";
import { commandHint } from "../model/hint.ts";

/** A token without its secret. */
interface NamedToken {
  readonly name: string;
  readonly role: Role;
  /** Creation time, as ISO 8601. */
  readonly created_at: string;
  /** The apps that exist for it, see `isWithin()`; undefined for all. */
  readonly only?: readonly string[];
  /** When it expires, as ISO 8601; undefined if it does not. */
  readonly expires_at?: string;
  /** Name of the token that created it; undefined for the owner. */
  readonly made_by?: string;
  /** Last use, as ISO 8601. */
  readonly last_used_at?: string;
}

/** What a token may do, where and how long. */
export interface Grant {
  readonly role: Role;
  readonly only?: readonly string[] | undefined;
  /** See `parseExpiry()`. */
  readonly expires?: string | undefined;
}

interface Entry extends NamedToken {
  /** SHA-256 of the token, in hex. */
  readonly sha256: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MAX_TOKENS = 1000;
/** Uses are written to the file this often at most. */
const USE_MS = 3_600_000;

export class NamedTokens {
  readonly #path: string;
  readonly #warn: (message: string) => void;
  #entries: Map<string, Entry> | undefined;
  #writtenAt = -Infinity;
  readonly #clock: Pick<Clock, "now">;

  constructor(
    path: string,
    warn: (message: string) => void = () => {},
    clock: Pick<Clock, "now"> = systemClock,
  ) {
    this.#path = path;
    this.#warn = warn;
    this.#clock = clock;
  }

  /**
   * Creates a token and returns it; it cannot be shown again. A token that expires cannot create one
   * that is valid longer; `maker` is empty for the owner. Throws `name_taken` or `bad_request`.
   */
  async create(
    name: string,
    grant: Grant,
    maker = "",
  ): Promise<{ token: string } & NamedToken> {
    if (!NAME.test(name)) {
      throw new ProcsupError(
        "bad_request",
        `Invalid name ${JSON.stringify(name)}: expected up to 64 letters, digits, ".", "_" or "-"`,
      );
    }
    const now = this.#clock.now();
    const limits = limitsOf(grant, now, this.valid(maker)?.expires_at);
    this.#refuseTaken(name);
    const token = `ps_${crypto.getRandomValues(new Uint8Array(32)).toHex()}`;
    const sha256 = await hashOf(token);
    this.#refuseTaken(name);
    const created_at = new Date(now).toISOString();
    const made = maker === "" ? {} : { made_by: maker };
    const shown: NamedToken = { name, role: grant.role, created_at, ...limits, ...made };
    this.#write(new Map([...this.#all(), [name, { ...shown, sha256 }]]));
    return { token, ...shown };
  }

  /** All tokens, sorted by name. */
  list(): NamedToken[] {
    return [...this.#all().values()]
      .map(({ sha256: _, ...shown }) => shown)
      .sort((a, b) => a.name < b.name ? -1 : 1);
  }

  /** A token that is valid; undefined if no such token has that name. */
  valid(name: string): NamedToken | undefined {
    const found = this.#all().get(name);
    return found !== undefined && this.#isValid(found) ? found : undefined;
  }

  #isValid({ expires_at: end }: NamedToken): boolean {
    return end === undefined || this.#clock.now() < Date.parse(end);
  }

  /** Revokes a token at once. Throws `not_found`. If it cannot be saved, the token stays valid. */
  revoke(name: string): void {
    const rest = new Map(this.#all());
    if (!rest.delete(name)) {
      throw new ProcsupError("not_found", `No token ${JSON.stringify(name)}`, {
        hint: commandHint("token list"),
      });
    }
    this.#write(rest);
  }

  /** Finds the valid token of a secret. Comparing hashes does not reveal the secret through timing. */
  async find(secret: string): Promise<NamedToken | undefined> {
    if (this.#all().size === 0) return undefined;
    const hash = await hashOf(secret);
    const found = [...this.#all().values()].find((one) =>
      one.sha256 === hash && this.#isValid(one)
    );
    return found && this.used(found.name);
  }

  /** Notes the use of a valid token. Returns it; undefined if no such token has that name. */
  used(name: string): NamedToken | undefined {
    if (this.valid(name) === undefined) return undefined;
    const now = this.#clock.now();
    const entry = { ...this.#all().get(name)!, last_used_at: new Date(now).toISOString() };
    this.#all().set(name, entry);
    // A file that was removed revokes all tokens once the daemon restarts: do not restore it.
    const isDue = now - this.#writtenAt >= USE_MS && lstatIfAny(this.#path) !== undefined;
    if (!isDue) return entry;
    this.#writtenAt = now;
    try {
      this.#write(this.#all(), false);
    } catch (error) {
      this.#warn(`The use of a token cannot be recorded: ${messageOf(error)}`);
    }
    return entry;
  }

  /** An expired token does not keep its name. */
  #refuseTaken(name: string): void {
    if (this.valid(name) !== undefined) {
      throw new ProcsupError("name_taken", `Token "${name}" exists already`, {
        hint: commandHint("token revoke", name),
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

  #write(entries: Map<string, Entry>, durable = true): void {
    const tokens = [...entries.values()];
    writeState(this.#path, { version: 1, tokens }, { durable });
    this.#entries = entries;
  }
}

/**
 * Throws `bad_request` for limits that are invalid, have no effect with the role, or exceed those of
 * the maker.
 */
function limitsOf(
  { role, only, expires }: Grant,
  now: number,
  /** When the token of the maker expires. */
  latest: string | undefined,
): Pick<NamedToken, "only" | "expires_at"> {
  for (const word of only ?? []) {
    const problem = limitProblem(word);
    if (problem === undefined) continue;
    throw new ProcsupError("bad_request", `Invalid "only" ${quote(word)}: ${problem}`);
  }
  if (only !== undefined && role === "admin") {
    throw new ProcsupError(
      "bad_request",
      'Invalid "only": an admin can run any command as the user of the daemon, so no limit holds',
      { hint: "Use the role read or operate" },
    );
  }
  const end = expires === undefined
    ? latest
    : new Date(parseExpiry("expires", expires, now)).toISOString();
  if (end !== undefined && latest !== undefined && end > latest) {
    throw new ProcsupError(
      "bad_request",
      `Invalid "expires" ${quote(expires!)}: your own token is valid until ${latest}`,
      { hint: "Ask the owner of the daemon for a token that is valid longer" },
    );
  }
  return { ...only !== undefined && { only }, ...end !== undefined && { expires_at: end } };
}

async function hashOf(secret: string): Promise<string> {
  const bytes = new TextEncoder().encode(secret);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
