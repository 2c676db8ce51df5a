/** The secret of a webhook, kept in memory only, as a key; and what it signs. */

import { messageOf, ProcsupError } from "../../model/errors.ts";
import type { Webhook } from "../../model/webhook.ts";
import { signedText } from "../../model/webhook_rules.ts";
import { readForeignFile } from "../../platform/foreign_file.ts";
import { printedSecret } from "../../platform/shell.ts";

/** Time limit for a command that prints a secret. */
const COMMAND_TIMEOUT_MS = 10_000;

/**
 * The signing key of a webhook; undefined if none is configured. Throws `invalid_config`, without the
 * secret.
 */
export async function webhookKey(webhook: Webhook): Promise<CryptoKey | undefined> {
  if (webhook.secret === undefined) return undefined;
  const text = await secretText(webhook);
  return await signingKey(webhook.name, text.replace(/\r?\n$/, ""));
}

async function secretText({ name, secret = {}, cwd }: Webhook): Promise<string> {
  const { env, file, command } = secret;
  const refuse = (why: string) =>
    new ProcsupError("invalid_config", `Invalid "webhooks.${name}.secret": ${why}`);
  if (env !== undefined) {
    const value = Deno.env.get(env);
    if (value !== undefined) return value;
    throw refuse(`the variable "${env}" is not set in the daemon's environment`);
  }
  if (file !== undefined) {
    try {
      return readForeignFile(file);
    } catch (error) {
      throw refuse(`the file "${file}" cannot be read: ${messageOf(error)}`);
    }
  }
  const around = { cwd, env: Deno.env.toObject(), timeoutMs: COMMAND_TIMEOUT_MS };
  return await printedSecret({ command: command!, ...around }).catch((error) => {
    throw refuse(messageOf(error));
  });
}

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
