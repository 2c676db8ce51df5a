/** The webhooks as they are remembered: what was configured, variables filled in, without any secret's value. */

import { parseWebhook, webhookWire } from "../../model/settings_schema.ts";
import type { Webhook } from "../../model/webhook.ts";
import { replaceFileDurably } from "../../platform/atomic_file.ts";

/** Reads them. Throws when the text is not ours. */
export function readRemembered(text: string): Webhook[] {
  const { version, webhooks } = JSON.parse(text);
  if (version !== 1) throw new Error(`webhooks.json has version ${version}, 1 is known`);
  return webhooks.map(({ cwd, ...wire }: Record<string, unknown> & { cwd: string }) =>
    parseWebhook(wire, cwd)
  );
}

/** Writes them; the file is the user's alone. */
export function remember(folder: string, webhooks: readonly Webhook[]): void {
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const list = webhooks.map((webhook) => ({ ...webhookWire(webhook), cwd: webhook.cwd }));
  replaceFileDurably(`${folder}/webhooks.json`, JSON.stringify({ version: 1, webhooks: list }));
}

/** Forgets them, and all that was on its way. */
export function forget(folder: string): void {
  Deno.removeSync(folder, { recursive: true });
}
