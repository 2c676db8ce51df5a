/** What a webhook is sent. */

import { plainText } from "../../model/plain_text.ts";
import type { ProcessChange } from "../../model/process_change.ts";
import type { LastWords } from "../../model/start_failed.ts";
import type { WebhookEvent } from "../../model/webhook.ts";
import { exitJson } from "../../protocol/process_json.ts";

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
    /** The line of its output that says what went wrong; null where none does. */
    readonly error_line: string | null;
    /** Its last lines of output, when it is in trouble. */
    readonly last_output: readonly string[];
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

/** Something to be told, ready to be sent to anybody. */
export interface Message {
  /** The same in every attempt: by it a receiver knows what it has seen. */
  readonly id: string;
  readonly event: WebhookBody["type"];
  /** Name of the process. */
  readonly about: string;
  /** JSON of a `WebhookBody`. */
  readonly body: string;
}

/** Most lines of output. */
export const OUTPUT_LINES = 20;

const SILENT = { error_line: null, last_output: [] } as const;

/** The message about a process. */
export function messageAbout(
  event: WebhookEvent,
  change: ProcessChange,
  { namespace, host }: { readonly namespace: string; readonly host: string },
): Message {
  const { name, id, state, pid, restarts, reason, exit, at } = change;
  const data: WebhookBody["data"] = {
    host,
    process: {
      ...{ name, id: id.slice(0, 8), namespace, state, pid, restarts, reason },
      last_exit: exit === null ? null : exitJson(exit),
    },
    ...SILENT,
  };
  return message(event, at, data);
}

/** A body with what the process wrote last, without control sequences. */
export function bodyWithOutput(body: string, { errorLine, lastOutput }: LastWords): string {
  const whole: WebhookBody = JSON.parse(body);
  const last_output = lastOutput.map(plainText);
  const data = { ...whole.data, error_line: errorLine ?? null, last_output };
  return JSON.stringify({ ...whole, data } satisfies WebhookBody);
}

/** The message of `procsup webhook test`. */
export function testMessage(host: string, at: Date): Message {
  return message("test", at, { host, process: null, ...SILENT });
}

function message(event: Message["event"], at: Date, data: WebhookBody["data"]): Message {
  const body: WebhookBody = { type: event, timestamp: at.toISOString(), data };
  return {
    id: `msg_${crypto.randomUUID().replaceAll("-", "")}`,
    event,
    about: data.process?.name ?? "",
    body: JSON.stringify(body),
  };
}
