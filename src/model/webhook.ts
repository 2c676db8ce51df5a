/** Types of webhooks. */

import type { SecretSource } from "./process_config.ts";

export const WEBHOOK_EVENTS = [
  "crash",
  "errored",
  "unhealthy",
  "release_failed",
  "recovered",
  "overdue",
  "alert",
  "alert_resolved",
] as const satisfies readonly WebhookEvent[];

/** An event that a webhook can report. */
export type WebhookEvent =
  | "crash"
  | "errored"
  | "unhealthy"
  | "release_failed"
  | "recovered"
  | "overdue"
  | "alert"
  | "alert_resolved";

export const WEBHOOK_FORMATS = [
  "standard",
  "slack",
  "discord",
  "teams",
] as const satisfies readonly WebhookFormat[];

/** Format of a delivery: Standard Webhooks, or that of a chat service. */
export type WebhookFormat = "standard" | "slack" | "discord" | "teams";

/** A webhook with all defaults. */
export interface Webhook {
  /** Unique name. */
  readonly name: string;
  /** http or https. It may contain a secret: show only `shownUrl()`. */
  readonly url: string;
  /** Source of the key that signs deliveries; without it they are unsigned. */
  readonly secret?: SecretSource;
  /** Folder for relative paths and for the command of `secret`. */
  readonly cwd: string;
  readonly format: WebhookFormat;
  readonly events: readonly WebhookEvent[];
  /** Targets: a process must match one of them. */
  readonly only: readonly string[];
  /** Time limit of one attempt. */
  readonly timeoutMs: number;
  /** Attempts before a delivery is given up. */
  readonly maxAttempts: number;
  /** Deliveries that may be queued; then the oldest is dropped. */
  readonly maxQueued: number;
  /** Delay before the second attempt; it doubles with each further one. */
  readonly retryDelayMs: number;
}

/** The part of a URL that is not secret: `https://hooks.example.com/…`. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "…";
  const { origin, pathname, search } = new URL(url);
  return origin + (pathname + search === "/" ? "/" : "/…");
}
