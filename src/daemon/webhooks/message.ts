/** Messages to webhooks. */

import type { EventBody } from "../../model/event_body.ts";
import { shortened } from "../../model/plain_text.ts";
import type { WebhookFormat } from "../../model/webhook.ts";

/** A message, ready to be sent to any webhook. */
export interface Message {
  /** The same in every attempt, so that receivers can recognize duplicates. */
  readonly id: string;
  readonly event: EventBody["type"];
  /** Name of the process; empty in a test. */
  readonly about: string;
  readonly body: string;
}

/** A message with a body, about a process by its name; `""` in a test. */
export function messageWith(body: EventBody): Message {
  return {
    id: `msg_${crypto.randomUUID().replaceAll("-", "")}`,
    event: body.type,
    about: body.data.process?.name ?? "",
    body: JSON.stringify(body),
  };
}

/** Maximum characters of quoted lines: Discord accepts 2,000 in total. */
const MAX_QUOTED = 1200;
const MAX_LINE = 300;

/** The body to send. `standard` is the JSON of an `EventBody`. */
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
  { type, data: { host, process, alert, link, error_line, last_output } }: EventBody,
): Note {
  const reason = process?.reason ?? alert?.reason;
  const who = process === null ? host : `${process.name} on ${host}`;
  const title = type === "test"
    ? `Test of procsup on ${host}`
    : `${who}: ${type}${reason && `, ${reason}`}`;
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
