/** Saves the configured webhooks. Variables are filled in; secrets are saved as their sources only. */

import { parseWebhook, webhookWire } from "../../model/config_schema.ts";
import type { Webhook } from "../../model/webhook.ts";
import { dirname } from "../../npm/path.js";
import { readState, type StateRead, writeState } from "../../platform/state_file.ts";

/** Reads the webhooks and the problems of their file; the value is undefined if it is unreadable. */
export function readRemembered(path: string): StateRead<Webhook[]> {
  return readState(path, (value) => {
    const { version, webhooks } = value as WebhooksFile;
    if (version !== 1) throw new Error(`unknown version ${JSON.stringify(version)}`);
    return webhooks.map(({ cwd, ...wire }) => parseWebhook(wire, cwd));
  });
}

/** Writes the webhooks. Only the user can read the file. */
export function remember(path: string, webhooks: readonly Webhook[]): void {
  Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const list = webhooks.map((webhook) => ({ ...webhookWire(webhook), cwd: webhook.cwd }));
  writeState(path, { version: 1, webhooks: list }, { durable: true });
}

interface WebhooksFile {
  readonly version: number;
  readonly webhooks: readonly (Record<string, unknown> & { readonly cwd: string })[];
}

/** Removes the webhooks and all pending deliveries. */
export function forget(folder: string): void {
  Deno.removeSync(folder, { recursive: true });
}

/**
 * A webhook with other values of some keys, or a new one; null is the default. Throws `invalid_config`.
 */
export function changedWebhook(
  old: Webhook | undefined,
  given: Readonly<Record<string, unknown>>,
  cwd: string,
): Webhook {
  const wire = { ...old && webhookWire(old), ...given };
  const set = Object.entries(wire).filter(([, value]) => value !== null && value !== undefined);
  return parseWebhook(Object.fromEntries(set), old?.cwd ?? cwd);
}
