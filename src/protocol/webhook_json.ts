/** Webhooks on the wire. */

import type { WebhookEvent } from "../model/webhook.ts";

/** A webhook and how it goes. Of its URL only what is no secret is told. */
export interface WebhookJson {
  readonly name: string;
  /** `https://hooks.example.com/…`. */
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Targets; none: every process. */
  readonly only: readonly string[];
  /** Whether what is sent carries a signature. */
  readonly signed: boolean;
  /** Deliveries that wait for their turn, or for another attempt. */
  readonly queued: number;
  /** Since the daemon started: how many came through, were given up, and had to make room. */
  readonly delivered: number;
  readonly failed: number;
  readonly dropped: number;
  /** How the last attempt went; null before the first. */
  readonly last: WebhookAttemptJson | null;
}

/** How one attempt went. */
export interface WebhookAttemptJson {
  /** ISO 8601. */
  readonly at: string;
  readonly ok: boolean;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** What went wrong; empty when nothing did. */
  readonly error: string;
}

/** How a test went at one webhook. */
export interface WebhookTestJson extends WebhookAttemptJson {
  readonly name: string;
}

/** Payload of `webhook_test`. */
export interface WebhookTestPayload {
  /** Default: every webhook. */
  readonly name?: string;
}

/** The rows of the action map. */
export interface WebhookActionMap {
  webhook_list: { payload: undefined; data: readonly WebhookJson[] };
  webhook_test: {
    payload: WebhookTestPayload | string | undefined;
    data: readonly WebhookTestJson[];
  };
}

/** What a webhook is sent: the body, by Standard Webhooks. */
export interface WebhookBody {
  readonly type: WebhookEvent | "test";
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  readonly data: {
    /** Name of the machine. */
    readonly host: string;
    /** Null in a test. */
    readonly process: WebhookProcess | null;
    /** The last lines of its standard error, when it is in trouble. */
    readonly stderr: readonly string[];
  };
}

/** The process that it is about, as it stood then. */
export interface WebhookProcess {
  readonly name: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  readonly namespace: string;
  readonly state: string;
  /** 0 while nothing runs. */
  readonly pid: number;
  /** Automatic restarts so far. */
  readonly restarts: number;
  /** Why, in words. */
  readonly reason: string;
  /** How its last run ended; null where none has. The code is null where it is not known. */
  readonly last_exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly at: string;
  } | null;
}
