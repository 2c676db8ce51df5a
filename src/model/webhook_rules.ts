/** Decides what webhooks report, when deliveries are retried, and what is signed. Pure. */

import type { Health } from "./health.ts";
import { isSuccess } from "./transition_steps.ts";
import type { ChangeType } from "./process_info.ts";
import type { HookName, ProcessConfig } from "./process_config.ts";
import type { Snapshot } from "./process_state.ts";
import { stableRunMs } from "./restart_budget.ts";
import type { Webhook, WebhookEvent } from "./webhook.ts";

type Report = Exclude<WebhookEvent, "recovered">;

const REPORTS: { readonly [T in ChangeType]?: Report } = {
  crashed: "crash",
  errored: "errored",
  unhealthy: "unhealthy",
  release_failed: "release_failed",
  overdue: "overdue",
  alert: "alert",
  alert_resolved: "alert_resolved",
};

/** What webhooks report at an event; undefined for nothing. */
export function reportAt(type: ChangeType): Report | undefined {
  return REPORTS[type];
}

/** The hooks that run after an event. */
const HOOKS: { readonly [R in Report]?: HookName } = {
  crash: "onCrash",
  errored: "onErrored",
  unhealthy: "onUnhealthy",
  alert: "onAlert",
  alert_resolved: "onAlert",
};

/** The hook that runs after an event; undefined for none. */
export function hookAfter(type: ChangeType): HookName | undefined {
  const report = reportAt(type);
  return report && HOOKS[report];
}

/** Whether a process has a hook that runs after an event. */
export function hasEventHook({ hooks }: Pick<ProcessConfig, "hooks">): boolean {
  return Object.values(HOOKS).some((hook) => hooks[hook] !== undefined);
}

/** Whether the process is in trouble, so that its recovery is reported, and its output explains it. */
export function isTrouble(event: WebhookEvent | "test"): boolean {
  // The instances of a failed release have their old runs, or are in trouble of their own.
  return event === "crash" || event === "errored" || event === "unhealthy";
}

/** The current state of a process in trouble. */
export interface Standing {
  readonly snapshot: Pick<Snapshot, "state" | "desired" | "lastExit">;
  readonly health: Health;
  readonly uptimeMs: number;
  readonly config: Pick<ProcessConfig, "minUptimeMs" | "healthCheck" | "successExitCodes">;
}

/**
 * Milliseconds until a process in trouble counts as recovered; 0 if it has, undefined if only a
 * later event can tell. It has recovered when it is healthy (if checked) and ran stably, or when it
 * exited with success, as a job does.
 */
export function recoveredIn({ snapshot, health, uptimeMs, config }: Standing): number | undefined {
  const { state, desired, lastExit } = snapshot;
  if (state === "stopped") {
    return desired === "up" && lastExit !== null && isSuccess(lastExit, config) ? 0 : undefined;
  }
  if (state !== "running") return undefined;
  if (config.healthCheck !== undefined && health !== "healthy") return undefined;
  return Math.max(0, stableRunMs(config) - uptimeMs);
}

/** What a receiver's status means for a delivery. */
export type Verdict = "delivered" | "again" | "refused";

/** Redirects are refused: their destination was not configured. */
export function verdictOf(status: number): Verdict {
  if (status >= 200 && status < 300) return "delivered";
  return status >= 500 || status === 429 || status === 408 ? "again" : "refused";
}

/** Longest delay before another attempt. */
const MAX_RETRY_MS = 5 * 60_000;

/** Share of a delay that is random, so that many senders do not retry in step. */
const JITTER = 0.5;

/**
 * Milliseconds until the next attempt after `attempts` failures: the delay doubles with each, up to
 * five minutes, and is reduced by up to half at random. It is at least what the receiver asked for,
 * up to five minutes. `random` is in [0, 1).
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

/** Milliseconds that a `Retry-After` header asks for (seconds or a date); 0 for anything else. */
export function retryAfter(header: string | null, now: number): number {
  if (header === null) return 0;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}

/** The text to sign, by Standard Webhooks. `seconds` is the time of the attempt. */
export function signedText(id: string, seconds: number, body: string): string {
  return `${id}.${seconds}.${body}`;
}
