/**
 * The configured webhooks: saves, changes and compares them. Variables are filled in; secrets are saved
 * as their sources only.
 */

import { type FieldChange, keyChanges } from "../../model/config_diff.ts";
import { parseWebhook, webhookWire } from "../../model/config_schema.ts";
import { WEBHOOK_KEYS } from "../../model/settings_keys.ts";
import { shownUrl, type Webhook } from "../../model/webhook.ts";
import { dirname } from "@std/path";
import { readState, type StateRead, writeState } from "../../platform/files/state_file.ts";

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

/** The differences, as `<name of the webhook>.<key>`. */
export function webhookChanges(
  before: readonly Webhook[],
  after: readonly Webhook[],
): FieldChange[] {
  const [from, to] = [byName(before), byName(after)];
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((name) => {
    const [old, now] = [from.get(name), to.get(name)];
    if (old === undefined) return [{ field: name, to: shownUrl(now!.url) }];
    if (now === undefined) return [{ field: name, from: shownUrl(old.url) }];
    return keyChanges(webhookWire(old), webhookWire(now), WEBHOOK_KEYS)
      .map((change) => ({ ...change, field: `${name}.${change.field}` }));
  });
}

function byName(webhooks: readonly Webhook[]): Map<string, Webhook> {
  return new Map(webhooks.map((webhook) => [webhook.name, webhook]));
}
