/** The key by which the daemon proves itself to the tabs of its dashboard, see `session_signature.ts`. */

import { ifPossible } from "../model/errors.ts";
import { readFileIfAny, replaceFile } from "../platform/files/atomic_file.ts";
import { sealed, unsealed } from "../platform/files/state_file.ts";
import {
  newKeyPair,
  type Proof,
  proofOf,
  publicText,
  sharedKey,
} from "../protocol/session_signature.ts";

/** Maximum number of keys that are kept ready. */
const MAX_SHARED = 1000;

interface Pair {
  readonly privateKey: CryptoKey;
  readonly publicKey: string;
}

export class DaemonKey {
  readonly #path: string | undefined;
  #pair: Promise<Pair> | undefined;
  readonly #shared = new Map<string, Promise<CryptoKey>>();

  /** Without a path the key ends with the process. */
  constructor(path?: string) {
    this.#path = path;
  }

  /** The public key as text. */
  async publicText(): Promise<string> {
    return (await this.#own()).publicKey;
  }

  /** The key shared with a tab. Throws if its public key is invalid. */
  sharedWith(tab: string): Promise<CryptoKey> {
    const known = this.#shared.get(tab);
    if (known !== undefined) return known;
    if (this.#shared.size >= MAX_SHARED) this.#shared.delete(this.#shared.keys().next().value!);
    const key = this.#own().then(({ privateKey }) => sharedKey(privateKey, tab));
    this.#shared.set(tab, key);
    key.catch(() => this.#shared.delete(tab));
    return key;
  }

  /** Proves to a tab that it speaks with this daemon. */
  async prove(tab: string, { epoch, time }: Omit<Proof, "proof">, nonce: string): Promise<Proof> {
    const key = await this.sharedWith(tab);
    return { epoch, time, proof: await proofOf(key, { epoch, time, nonce }) };
  }

  #own(): Promise<Pair> {
    return this.#pair ??= this.#load();
  }

  /** A key that is missing or damaged is replaced: users sign in again. */
  async #load(): Promise<Pair> {
    const text = this.#path && ifPossible(() => readFileIfAny(this.#path!));
    const kept = text && ifPossible(() => unsealed(text) as JsonWebKey);
    const algorithm = { name: "ECDH", namedCurve: "P-256" };
    if (kept) {
      const { d: _, key_ops: __, ...open } = kept;
      const { subtle } = crypto;
      const privateKey = await subtle.importKey("jwk", kept, algorithm, false, ["deriveKey"]);
      const publicKey = await subtle.importKey("jwk", open, algorithm, true, []);
      return { privateKey, publicKey: await publicText({ privateKey, publicKey }) };
    }
    const pair = await newKeyPair(true);
    if (this.#path !== undefined) {
      const jwk = await crypto.subtle.exportKey("jwk", pair.privateKey);
      replaceFile(this.#path, `${sealed(jwk)}\n`);
    }
    return { privateKey: pair.privateKey, publicKey: await publicText(pair) };
  }
}
