/** Messages to webhooks. */

import { plainText, shortened } from "../../model/plain_text.ts";
import type { ProcessChange } from "../../model/process_info.ts";
import type { LastWords } from "../../model/start_failed.ts";
import type { WebhookEvent, WebhookFormat } from "../../model/webhook.ts";
import { exitJson } from "../../protocol/process_json.ts";
import type { ProcessJson } from "../../protocol/wire.ts";

/** The body of a message, in the format of Standard Webhooks. */
interface WebhookBody {
  readonly type: WebhookEvent | "test";
  /** Time of the event, as ISO 8601. */
  readonly timestamp: string;
  readonly data: {
    readonly host: string;
    /** The process at the time of the event; null in a test message. */
    readonly process:
      | Pick<ProcessJson, "name" | "id" | "namespace" | "state" | "pid" | "restarts" | "last_exit">
        & {
          /** Reason for the state, as a phrase for people. */
          readonly reason: string;
        }
      | null;
    /** Dashboard link to that time; null while the dashboard is not served. */
    readonly link: string | null;
    /** The output line with the error; null if none. */
    readonly error_line: string | null;
    /** Last lines of output; empty unless the process is in trouble or a release failed. */
    readonly last_output: readonly string[];
  };
}

/** A message, ready to be sent to any webhook. */
export interface Message {
  /** The same in every attempt, so that receivers can recognize duplicates. */
  readonly id: string;
  readonly event: WebhookBody["type"];
  /** Name of the process; empty in a test. */
  readonly about: string;
  readonly body: string;
}

/** Maximum number of output lines. */
export const OUTPUT_LINES = 20;

const SILENT = { error_line: null, last_output: [] } as const;

export function messageAbout(
  event: WebhookEvent,
  change: ProcessChange,
  { namespace, host, dashboard }: {
    readonly namespace: string;
    readonly host: string;
    /** URL of the dashboard; undefined while it is not served. */
    readonly dashboard: string | undefined;
  },
): Message {
  const { name, id, state, pid, restarts, exit, at } = change;
  // The output of a failed release is that of the failed run, which is over.
  const [reason, ...lines] = event === "release_failed"
    ? change.reason.split("\n")
    : [change.reason];
  const data: WebhookBody["data"] = {
    host,
    process: {
      ...{ name, id: id.slice(0, 8), namespace, state, pid, restarts, reason: reason! },
      last_exit: exit === null ? null : exitJson(exit),
    },
    link: dashboard === undefined ? null : `${dashboard}/#/${momentPath(name, at)}`,
    ...SILENT,
    last_output: lines.map(plainText),
  };
  return message(event, at, data);
}

/** The charts of an app in the dashboard, which chooses the range from `at`. */
function momentPath(name: string, at: Date): string {
  const moment = encodeURIComponent(at.toISOString());
  return `processes/${encodeURIComponent(name)}?tab=metrics&at=${moment}`;
}

/** Adds the last output of the process to a body, without control sequences. */
export function bodyWithOutput(body: string, { errorLine, lastOutput }: LastWords): string {
  const whole: WebhookBody = JSON.parse(body);
  const last_output = lastOutput.map(plainText);
  const data = { ...whole.data, error_line: errorLine ?? null, last_output };
  return JSON.stringify({ ...whole, data } satisfies WebhookBody);
}

/** The message of `procsup webhook test`. */
export function testMessage(host: string, at: Date): Message {
  return message("test", at, { host, process: null, link: null, ...SILENT });
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

/** Maximum characters of quoted lines: Discord accepts 2,000 in total. */
const MAX_QUOTED = 1200;
const MAX_LINE = 300;

/** The body to send. `standard` is the JSON of a `WebhookBody`. */
export function bodyIn(format: WebhookFormat, standard: string): string {
  if (format === "standard") return standard;
  return JSON.stringify(BODIES[format](noteOf(JSON.parse(standard))));
}

/** The text for people. Title and error may contain text of apps. */
interface Note {
  readonly title: string;
  readonly error: string;
  readonly lines: string;
  /** Dashboard link; empty for none. */
  readonly link: string;
}

function noteOf(
  { type, data: { host, process, link, error_line, last_output } }: WebhookBody,
): Note {
  const title = process === null
    ? `Test of procsup on ${host}`
    : `${process.name} on ${host}: ${type}${process.reason && `, ${process.reason}`}`;
  const lines = last_output.join("\n").slice(-MAX_QUOTED).toWellFormed();
  return { title: cut(title), error: cut(error_line ?? ""), lines, link: link ?? "" };
}

function cut(line: string): string {
  return shortened(line, MAX_LINE);
}

const BODIES: Readonly<Record<Exclude<WebhookFormat, "standard">, (note: Note) => unknown>> = {
  slack: ({ title, error, lines, link }) => ({
    text: joined(entities(title), entities(error), entities(lines), entities(link)),
  }),
  discord: ({ title, error, lines, link }) => ({
    content: joined(cut(escaped(title)), cut(escaped(error)), lines, link),
    allowed_mentions: { parse: [] },
  }),
  // A TextRun does not interpret Markdown.
  teams({ title, error, lines, link }) {
    const block = (text: string, look: object) => ({
      type: "RichTextBlock",
      inlines: [{ type: "TextRun", text, ...look }],
    });
    const body = [
      block(title, { weight: "Bolder" }),
      ...error === "" ? [] : [block(error, { color: "Attention" })],
      ...lines === "" ? [] : [block(lines, { fontType: "Monospace", size: "Small" })],
    ];
    const content = {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      ...{ type: "AdaptiveCard", version: "1.4", body },
      ...link !== "" &&
        { actions: [{ type: "Action.OpenUrl", title: "Open in procsup", url: link }] },
    };
    const contentType = "application/vnd.microsoft.card.adaptive";
    return { type: "message", attachments: [{ contentType, contentUrl: null, content }] };
  },
};

/** Chat Markdown with the error as a quote, the lines as a code block, and a bare link. */
function joined(title: string, error: string, lines: string, link: string): string {
  const code = lines.replaceAll("```", "'''");
  const block = code && `\`\`\`\n${code}\n\`\`\``;
  return [title, error && `> ${error}`, block, link].filter(Boolean).join("\n");
}

/** Escapes text for Slack, which has links and mentions in angle brackets. */
function entities(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Escapes Discord's Markdown. */
function escaped(text: string): string {
  return text.replaceAll(/[\\*_~`|>[\]()#<-]/g, "\\$&");
}
