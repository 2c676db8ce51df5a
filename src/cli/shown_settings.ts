/** What files say about the daemon itself, as it may be shown. */

import type { LoadedSettings } from "../config/load_settings.ts";
import { webhookWire } from "../model/settings_schema.ts";
import { shownUrl } from "../model/webhook.ts";

/** `web` and `webhooks` with all defaults; of the URLs only what is no secret. */
export function shownSettings({ web, webhooks }: LoadedSettings): Record<string, unknown> {
  return {
    ...(web === undefined ? {} : { web }),
    ...(webhooks === undefined ? {} : {
      webhooks: webhooks.map((webhook) => ({
        ...webhookWire(webhook),
        url: shownUrl(webhook.url),
      })),
    }),
  };
}
