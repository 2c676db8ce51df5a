/** The signature of Standard Webhooks: HMAC-SHA256 over id, time and body. */

import { ProcsupError } from "../../model/errors.ts";
import { signedText } from "../../model/webhook_rules.ts";

/** Minimum of the specification. */
const LEAST_KEY_BYTES = 24;

const PREFIX = "whsec_";

/** Reads the key: base64 after `whsec_`, otherwise the text itself. Throws `invalid_config`. */
export async function signingKey(name: string, secret: string): Promise<CryptoKey> {
  const bytes = keyBytes(name, secret);
  if (bytes.length < LEAST_KEY_BYTES) {
    throw new ProcsupError(
      "invalid_config",
      `Invalid "webhooks.${name}.secret": it has ${bytes.length} bytes, expected ${LEAST_KEY_BYTES} or more`,
      { hint: "To create one: openssl rand -base64 32" },
    );
  }
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
}

/** The value of the `webhook-signature` header. `seconds` is the time of the attempt. */
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
      `Invalid "webhooks.${name}.secret": expected base64 after ${PREFIX}`,
    );
  }
}
