/** What webhooks are told, when they are tried again, and what is signed. Pure. */

import type { Health } from "./health.ts";
import { isSuccess } from "./outcomes.ts";
import type { ChangeType } from "./process_change.ts";
import type { ProcessConfig } from "./process_config.ts";
import type { Snapshot } from "./process_state.ts";
import { stableRunMs } from "./restart_budget.ts";
import type { Webhook, WebhookEvent } from "./webhook.ts";

/** An event that calls for help. */
export type Trouble = Exclude<WebhookEvent, "recovered">;

const TROUBLES: { readonly [T in ChangeType]?: Trouble } = {
  crashed: "crash",
  errored: "errored",
  unhealthy: "unhealthy",
};

/** The trouble that a piece of news is, if any. */
export function troubleOf(type: ChangeType): Trouble | undefined {
  return TROUBLES[type];
}

/** How a process in trouble stands now. */
export interface Standing {
  readonly snapshot: Pick<Snapshot, "state" | "wish" | "lastExit">;
  readonly health: Health;
  readonly uptimeMs: number;
  readonly config: Pick<ProcessConfig, "minUptimeMs" | "healthCheck" | "successExitCodes">;
}

/**
 * Milliseconds until a process in trouble has recovered, 0 when it has; undefined while only news of
 * it can tell. Recovered is what is healthy, where it is checked, and has run stably; or what has
 * completed with success, as a job does.
 */
export function recoveredIn(
  { snapshot, health, uptimeMs, config }: Standing,
): number | undefined {
  const { state, wish, lastExit } = snapshot;
  if (state === "stopped") {
    return wish === "up" && lastExit !== null && isSuccess(lastExit, config) ? 0 : undefined;
  }
  if (state !== "running") return undefined;
  if (config.healthCheck !== undefined && health !== "healthy") return undefined;
  return Math.max(0, stableRunMs(config) - uptimeMs);
}

/** What an answer means for a delivery. */
export type Verdict = "delivered" | "again" | "refused";

/** By the status; a redirection is refused, since what it leads to was configured by nobody. */
export function verdictOf(status: number): Verdict {
  if (status >= 200 && status < 300) return "delivered";
  return status >= 500 || status === 429 || status === 408 ? "again" : "refused";
}

/** No receiver waits longer for the next attempt. */
const MAX_RETRY_MS = 5 * 60_000;

/** Part of a delay that is drawn by chance, so that many senders do not return in step. */
const JITTER = 0.5;

/**
 * Milliseconds until the next attempt after so many that failed: doubled with each, up to five
 * minutes, less up to a half. What the receiver asked for is the least. `random` is in [0, 1).
 */
export function retryDelay(
  { retryDelayMs }: Pick<Webhook, "retryDelayMs">,
  attempts: number,
  random: number,
  askedMs = 0,
): number {
  const doubled = retryDelayMs * 2 ** Math.min(attempts - 1, 30);
  const delay = Math.round(Math.min(doubled, MAX_RETRY_MS) * (1 - JITTER * random));
  return Math.max(delay, Math.min(askedMs, MAX_RETRY_MS));
}

/** Milliseconds that a `Retry-After` asks for: seconds, or a date; 0 for anything else. */
export function retryAfter(header: string | null, now: number): number {
  if (header === null) return 0;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}

/** What is signed, by Standard Webhooks. `seconds` is the time of the attempt. */
export function signedText(id: string, seconds: number, body: string): string {
  return `${id}.${seconds}.${body}`;
}
