/** Compares two lists of webhooks, without secrets. Pure. */

import { type FieldChange, keyChanges } from "../../manager/config_diff.ts";
import { webhookWire } from "../../model/config_schema.ts";
import { WEBHOOK_KEYS } from "../../model/settings_keys.ts";
import { shownUrl, type Webhook } from "../../model/webhook.ts";

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
