/** The words of webhooks: who is told what, and how it is brought to them. */

import type { SecretSource } from "./process_config.ts";

/** All of them, as a list. */
export const WEBHOOK_EVENTS = ["crash", "errored", "unhealthy", "recovered"] as const;

/** What a webhook can be told. */
export type WebhookEvent = "crash" | "errored" | "unhealthy" | "recovered";

/** All of them, as a list. */
export const WEBHOOK_FORMATS = ["standard", "slack", "discord", "teams"] as const;

/** What a receiver understands: Standard Webhooks, or a chat service. */
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** Somebody who is told. */
export interface Webhook {
  /** Unique among the webhooks. */
  readonly name: string;
  /** http or https. May hold a secret: it is shown to nobody, see `shownUrl()`. */
  readonly url: string;
  /** Where the key of the signature comes from; unsigned without it. */
  readonly secret?: SecretSource;
  /** What relative paths and the command of `secret` are against. */
  readonly cwd: string;
  readonly format: WebhookFormat;
  readonly events: readonly WebhookEvent[];
  /** Targets, of which a process must match one; none: every process. */
  readonly only: readonly string[];
  /** Time that one attempt may take. */
  readonly timeoutMs: number;
  /** Attempts before it is given up. */
  readonly maxAttempts: number;
  /** Deliveries that may wait; what is more takes the place of the oldest. */
  readonly maxQueued: number;
  /** Delay before the second attempt; it doubles with each. */
  readonly retryDelayMs: number;
}

/** Of a URL only what is no secret: `https://hooks.example.com/…`. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "…";
  const { origin, pathname, search } = new URL(url);
  return origin + (pathname + search === "/" ? "/" : "/…");
}
