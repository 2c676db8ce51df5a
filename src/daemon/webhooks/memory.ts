/** The webhooks as they are remembered: what was configured, variables filled in, without any secret's value. */

import { parseWebhook, webhookWire } from "../../model/config_schema.ts";
import type { Webhook } from "../../model/webhook.ts";
import { dirname } from "../../npm/path.js";
import { readState, type StateRead, writeState } from "../../platform/state_file.ts";

/** Reads them, and what was wrong with their file; undefined when nothing of it can be read. */
export function readRemembered(path: string): StateRead<Webhook[]> {
  return readState(path, (value) => {
    const { version, webhooks } = value as WebhooksFile;
    if (version !== 1) throw new Error(`unknown version ${JSON.stringify(version)}`);
    return webhooks.map(({ cwd, ...wire }) => parseWebhook(wire, cwd));
  });
}

/** Writes them; the file is the user's alone. */
export function remember(path: string, webhooks: readonly Webhook[]): void {
  Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const list = webhooks.map((webhook) => ({ ...webhookWire(webhook), cwd: webhook.cwd }));
  writeState(path, { version: 1, webhooks: list }, { durable: true });
}

interface WebhooksFile {
  readonly version: number;
  readonly webhooks: readonly (Record<string, unknown> & { readonly cwd: string })[];
}

/** Forgets them, and all that was on its way. */
export function forget(folder: string): void {
  Deno.removeSync(folder, { recursive: true });
}
