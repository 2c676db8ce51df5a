/**
 * The key of this tab. It signs every request and never leaves the tab, also not for a reload. Only the
 * daemon that the tab signed in to can prove itself, so another program at its address is recognised.
 */

import {
  authorizationOf,
  newKeyPair,
  type Proof,
  proofOf,
  publicText,
  randomText,
  sharedKey,
  type Signable,
} from "../../../../protocol/session_signature.ts";
import { REST_BASE } from "../../../../protocol/version.ts";

/** What answers at the address of the daemon is not the daemon that the tab signed in to. */
export class ForeignError extends Error {}

interface TabKey {
  /** The public key, which names the session. */
  readonly session: string;
  /** Shared with the daemon. */
  readonly key: CryptoKey;
}

/**
 * The folder of the page: `/`, or the path below which a proxy serves it, such as `/procsup/`. Code
 * that needs no page is used outside of one too.
 */
export const BASE = globalThis.location === undefined ? "/" : new URL(".", location.href).pathname;

/** The address of a path of the daemon, such as `/docs`. */
export function addressOf(path: string): string {
  return BASE + path.slice(1);
}

/** Loads a program that only one page needs. */
export async function loadAsset<T>(name: string): Promise<T> {
  return await import(addressOf(`/assets/${name}.js`));
}

/** Time for the daemon to prove itself. */
const PATIENCE_MS = 8000;

let own: TabKey | undefined;
/** The daemon's proof, and when it came. Undefined until the daemon has proved itself. */
let proven: Promise<{ readonly epoch: string; readonly ahead: number }> | undefined;
/** The first epoch that this page has seen. */
let firstEpoch: string | undefined;

/** True in a context without WebCrypto: plain HTTP, other than from this machine. */
export const isInsecure = globalThis.crypto?.subtle === undefined;

export function hasSession(): boolean {
  return own !== undefined;
}

/** Forgets the key: the session has ended. */
export function dropKey(): void {
  own = proven = undefined;
}

/** The daemon must prove itself again before the next request. */
export function distrust(): void {
  proven = undefined;
}

/** Begins a session: `open` sends the public key and resolves to the daemon's. */
export async function beginSession(open: (session: string) => Promise<string>): Promise<void> {
  const pair = await newKeyPair();
  const session = await publicText(pair);
  const key = await sharedKey(pair.privateKey, await open(session));
  own = { session, key };
  proven = undefined;
}

/** The header that signs a request; undefined without a session. Throws `ForeignError`. */
export async function authorizationFor(request: Signable): Promise<string | undefined> {
  if (own === undefined) return undefined;
  const { session, key } = own;
  const asked = proven ??= prove(own);
  asked.catch(() => proven === asked && distrust());
  const { epoch, ahead } = await asked;
  const time = Math.round(performance.now() + ahead);
  return await authorizationOf(key, { session, epoch, time }, request);
}

/**
 * Whether the daemon has listened without a break since this page was loaded. If not, another program
 * may have had the address, and a page of it may still be open.
 */
export async function isUnbroken(): Promise<boolean> {
  const { epoch } = await proven ?? {};
  return epoch !== undefined && epoch === firstEpoch;
}

async function prove({ session, key }: TabKey): Promise<{ epoch: string; ahead: number }> {
  const nonce = randomText();
  const path = `${REST_BASE}/session/proof?key=${session}&nonce=${nonce}`;
  const response = await fetch(addressOf(path), {
    ...{ credentials: "omit", cache: "no-store" },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  // A proxy says so while the daemon is down.
  if (response.status >= 500) throw new TypeError("The daemon cannot be reached");
  const { epoch, time, proof } = await response.json().catch(() => ({})) as Partial<Proof>;
  const expected = epoch !== undefined && time !== undefined &&
    await proofOf(key, { epoch, time, nonce });
  if (proof === undefined || proof !== expected) {
    throw new ForeignError("Another program answers at the address of the daemon");
  }
  firstEpoch ??= epoch;
  return { epoch: epoch!, ahead: time! - performance.now() };
}
