/**
 * How the tabs of the dashboard and the daemon prove themselves to each other. Both derive a key from
 * their own private key and the other's public key (ECDH), and sign with it (HMAC). What a tab sends
 * is no secret: it opens nothing at another time, for another request, or at another program.
 */

/** The scheme of the `Authorization` header. */
const SCHEME = "Procsup";

const CURVE = { name: "ECDH", namedCurve: "P-256" };
const HMAC = { name: "HMAC", hash: "SHA-256", length: 256 };

/** An uncompressed point in hex. */
const PUBLIC_KEY = /^04[0-9a-f]{128}$/;

export function isPublicKey(value: unknown): value is string {
  return typeof value === "string" && PUBLIC_KEY.test(value);
}

/** A new pair. The private key stays in this program, unless it is `extractable`. */
export async function newKeyPair(extractable = false): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(CURVE, extractable, ["deriveKey"]) as CryptoKeyPair;
}

/** The public key as text. */
export async function publicText({ publicKey }: CryptoKeyPair): Promise<string> {
  return hex(await crypto.subtle.exportKey("raw", publicKey));
}

/** The key that two sides share. Throws if the public key is no point of the curve. */
export async function sharedKey(own: CryptoKey, other: string): Promise<CryptoKey> {
  const raw = Uint8Array.from(other.match(/../g) ?? [], (byte) => parseInt(byte, 16));
  const publicKey = await crypto.subtle.importKey("raw", raw, CURVE, false, []);
  const derivation = { name: "ECDH", public: publicKey };
  return await crypto.subtle.deriveKey(derivation, own, HMAC, false, ["sign"]);
}

/** What the daemon signs to prove itself. */
export interface Proof {
  /** It changes whenever the daemon begins to listen. */
  readonly epoch: string;
  /** The daemon's time, in milliseconds since the epoch of dates. */
  readonly time: number;
  readonly proof: string;
}

/** `nonce` is chosen by the tab, so that an old proof does not serve. */
export async function proofOf(
  key: CryptoKey,
  { epoch, time, nonce }: Omit<Proof, "proof"> & { readonly nonce: string },
): Promise<string> {
  return await sign(key, ["daemon", epoch, time, nonce]);
}

/** A request to sign. */
export interface Signable {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Empty without a body. */
  readonly body: string;
}

/** The parts of the header. */
export interface Signature {
  /** Public key of the tab, which names its session. */
  readonly session: string;
  readonly epoch: string;
  /** Milliseconds since the epoch of dates, by the daemon's clock. */
  readonly time: number;
  readonly nonce: string;
  /** Hash of the body. */
  readonly body: string;
  readonly mac: string;
}

/** The signature of a request, without its body. */
export async function macOf(
  key: CryptoKey,
  { epoch, time, nonce, body }: Omit<Signature, "session" | "mac">,
  { method, path }: Pick<Signable, "method" | "path">,
): Promise<string> {
  return await sign(key, ["tab", epoch, time, nonce, method, path, body]);
}

/** The header that signs a request. */
export async function authorizationOf(
  key: CryptoKey,
  { session, epoch, time }: Pick<Signature, "session" | "epoch" | "time">,
  request: Signable,
): Promise<string> {
  const nonce = randomText();
  const body = await hashOf(request.body);
  const mac = await macOf(key, { epoch, time, nonce, body }, request);
  return `${SCHEME} ${[session, epoch, time, nonce, body, mac].join(".")}`;
}

/** Parses the header; undefined for another scheme, or if it is malformed. */
export function readAuthorization(header: string): Signature | undefined {
  const [scheme, text = "", ...rest] = header.split(" ");
  if (scheme?.toLowerCase() !== SCHEME.toLowerCase() || rest.length > 0) return undefined;
  const parts = text.split(".");
  const [session, epoch, time, nonce, body, mac] = parts as [string, ...string[]];
  const hashes = [epoch, nonce, body, mac];
  if (parts.length !== 6 || !isPublicKey(session) || !/^\d{1,15}$/.test(time!)) return undefined;
  if (!hashes.every((part) => /^[0-9a-f]{32,64}$/.test(part!))) return undefined;
  return { session, epoch: epoch!, time: Number(time), nonce: nonce!, body: body!, mac: mac! };
}

export async function hashOf(text: string): Promise<string> {
  return hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** 128 random bits. */
export function randomText(): string {
  return hex(crypto.getRandomValues(new Uint8Array(16)).buffer);
}

async function sign(key: CryptoKey, words: readonly (string | number)[]): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(words));
  return hex(await crypto.subtle.sign("HMAC", key, text));
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
