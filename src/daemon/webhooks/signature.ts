/** The signature of Standard Webhooks: HMAC-SHA256 over id, time and body. */

import { ProcsupError } from "../../model/errors.ts";
import { signedText } from "../../model/webhook_rules.ts";

/** The spec's least, which cannot be guessed from what was signed. */
const LEAST_KEY_BYTES = 24;

const PREFIX = "whsec_";

/** The key that a secret is: base64 after `whsec_`, else its own bytes. Throws `invalid_config`. */
export async function signingKey(name: string, secret: string): Promise<CryptoKey> {
  const bytes = keyBytes(name, secret);
  if (bytes.length < LEAST_KEY_BYTES) {
    throw new ProcsupError(
      "invalid_config",
      `Invalid "webhooks.${name}.secret": it has ${bytes.length} bytes, ${LEAST_KEY_BYTES} are the least`,
      { hint: "openssl rand -base64 32 makes one" },
    );
  }
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
}

/** The value of the header `webhook-signature`; `seconds` is the time of the attempt. */
export async function signature(
  key: CryptoKey,
  id: string,
  seconds: number,
  body: string,
): Promise<string> {
  const text = new TextEncoder().encode(signedText(id, seconds, body));
  return `v1,${new Uint8Array(await crypto.subtle.sign("HMAC", key, text)).toBase64()}`;
}

function keyBytes(name: string, secret: string): Uint8Array<ArrayBuffer> {
  if (!secret.startsWith(PREFIX)) return new TextEncoder().encode(secret);
  try {
    return Uint8Array.fromBase64(secret.slice(PREFIX.length));
  } catch {
    throw new ProcsupError(
      "invalid_config",
      `Invalid "webhooks.${name}.secret": what follows ${PREFIX} is no base64`,
    );
  }
}
