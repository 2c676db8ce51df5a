/** What a webhook is sent. */

import { plainText } from "../../model/plain_text.ts";
import type { ProcessChange } from "../../model/process_change.ts";
import type { WebhookEvent } from "../../model/webhook.ts";
import { exitJson } from "../../protocol/process_json.ts";
import type { WebhookBody } from "../../protocol/webhook_json.ts";

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

/** Most lines of standard error, and most bytes that are read for them. */
export const STDERR_LINES = 20;
export const STDERR_BYTES = 8 * 1024;

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
    stderr: [],
  };
  return message(event, at, data);
}

/** A body with what the process said last: text of others, what steers a terminal is taken out. */
export function bodyWithStderr(body: string, stderr: readonly string[]): string {
  const whole: WebhookBody = JSON.parse(body);
  const data = { ...whole.data, stderr: stderr.map(plainText) };
  return JSON.stringify({ ...whole, data } satisfies WebhookBody);
}

/** The message of `procsup webhook test`. */
export function testMessage(host: string, at: Date): Message {
  return message("test", at, { host, process: null, stderr: [] });
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
