/** Reads the secret of a webhook. It is kept in memory only, as a key. */

import { messageOf, ProcsupError } from "../../model/errors.ts";
import type { Webhook } from "../../model/webhook.ts";
import { readForeignFile } from "../../platform/foreign_file.ts";
import { printedSecret } from "../../platform/shell.ts";
import { signingKey } from "./signature.ts";

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
