/** The body of an event, for webhooks and for the hooks of events. Pure. */

import { HOST } from "./name.ts";
import { plainText } from "./plain_text.ts";
import { exitJson, type ProcessChange, type ProcessState } from "./process_info.ts";
import type { LastWords } from "./start_failed.ts";
import type { WebhookEvent } from "./webhook.ts";

/** The body of a message, in the format of Standard Webhooks. */
export interface EventBody {
  readonly type: WebhookEvent | "test";
  /** Time of the event, as ISO 8601. */
  readonly timestamp: string;
  readonly data: {
    readonly host: string;
    /** The process at the time of the event; null in a test and for an alert of the host. */
    readonly process: {
      readonly name: string;
      /** First 8 characters of the UUID. */
      readonly id: string;
      readonly namespace: string;
      readonly state: ProcessState;
      readonly pid: number;
      readonly restarts: number;
      readonly last_exit: ReturnType<typeof exitJson> | null;
      /** Reason for the state, as a phrase for people. */
      readonly reason: string;
    } | null;
    /** Only of an alert: its condition, and the condition with the value. */
    readonly alert?: { readonly when: string; readonly reason: string };
    /** Dashboard link to that time; null while the dashboard is not served. */
    readonly link: string | null;
    /** The output line with the error; null if none. */
    readonly error_line: string | null;
    /** Last lines of output; empty unless the process is in trouble or a release failed. */
    readonly last_output: readonly string[];
  };
}

/** Maximum number of output lines. */
export const OUTPUT_LINES = 20;

const SILENT = { error_line: null, last_output: [] } as const;

/** Where an event happened. */
export interface EventPlace {
  readonly namespace: string;
  readonly host: string;
  /** URL of the dashboard; undefined while it is not served. */
  readonly dashboard: string | undefined;
}

export function bodyAbout(
  event: WebhookEvent,
  change: ProcessChange,
  { namespace, host, dashboard }: EventPlace,
): EventBody {
  const { name, id, state, pid, restarts, exit, at, alert } = change;
  // The output of a failed release is that of the failed run, which is over.
  const [reason, ...lines] = event === "release_failed"
    ? change.reason.split("\n")
    : [change.reason];
  const process = {
    ...{ name, id: id.slice(0, 8), namespace, state, pid, restarts, reason: reason! },
    last_exit: exit === null ? null : exitJson(exit),
  };
  const data: EventBody["data"] = {
    host,
    process: name === HOST ? null : process,
    ...alert !== undefined && { alert: { when: alert, reason: change.reason } },
    link: dashboard === undefined ? null : `${dashboard}/#/${momentPath(name, at)}`,
    ...SILENT,
    last_output: lines.map(plainText),
  };
  return { type: event, timestamp: at.toISOString(), data };
}

/** The charts of an app or of the host in the dashboard, which chooses the range from `at`. */
function momentPath(name: string, at: Date): string {
  const moment = encodeURIComponent(at.toISOString());
  if (name === HOST) return `timeline?at=${moment}`;
  return `processes/${encodeURIComponent(name)}?tab=metrics&at=${moment}`;
}

/** Adds the last output of the process to a body, without control sequences. */
export function withOutput(body: EventBody, { errorLine, lastOutput }: LastWords): EventBody {
  const last_output = lastOutput.map(plainText);
  return { ...body, data: { ...body.data, error_line: errorLine ?? null, last_output } };
}

/** The body of a test. */
export function testBody(host: string, at: Date): EventBody {
  const data = { host, process: null, link: null, ...SILENT };
  return { type: "test", timestamp: at.toISOString(), data };
}
