/** One attempt to bring a message to its receiver. */

import { messageOf } from "../../model/errors.ts";
import { shownUrl, type Webhook } from "../../model/webhook.ts";
import { retryAfter, type Verdict, verdictOf } from "../../model/webhook_rules.ts";
import { VERSION } from "../../protocol/version.ts";
import { bodyIn } from "./formats.ts";
import type { Message } from "./message.ts";
import { signature } from "./signature.ts";

/** How it went. */
export interface Attempt {
  readonly verdict: Verdict;
  /** Null when there was no answer. */
  readonly status: number | null;
  /** What went wrong, without anything that the URL hides; empty when nothing did. */
  readonly error: string;
  /** How long the receiver asks to be left alone. */
  readonly askedMs: number;
}

/** Sends it. Never throws: what cannot be sent now is to be sent again. */
export async function attempt(
  webhook: Webhook,
  message: Message,
  key: () => Promise<CryptoKey | undefined>,
  signal: AbortSignal,
): Promise<Attempt> {
  const deadline = AbortSignal.timeout(webhook.timeoutMs);
  try {
    const sent = { id: message.id, body: bodyIn(webhook.format, message.body) };
    const response = await fetch(webhook.url, {
      method: "POST",
      headers: await headersOf(sent, await key()),
      body: sent.body,
      redirect: "manual",
      signal: AbortSignal.any([signal, deadline]),
    });
    const { status, headers } = response;
    // Nobody reads what is in it, and it may never end.
    void response.body?.cancel().catch(() => {});
    const verdict = verdictOf(status);
    return {
      verdict,
      status,
      error: verdict === "delivered" ? "" : `it answered ${status}`,
      askedMs: retryAfter(headers.get("retry-after"), Date.now()),
    };
  } catch (error) {
    const late = `no answer within ${webhook.timeoutMs} ms`;
    const why = deadline.aborted ? late : withoutUrl(reasonOf(error), webhook.url);
    return { verdict: "again", status: null, error: why, askedMs: 0 };
  }
}

async function headersOf(
  { id, body }: Pick<Message, "id" | "body">,
  key: CryptoKey | undefined,
): Promise<Headers> {
  const seconds = Math.floor(Date.now() / 1000);
  const headers = new Headers({
    "content-type": "application/json",
    "user-agent": `procsup/${VERSION}`,
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
  });
  if (key !== undefined) {
    headers.set("webhook-signature", await signature(key, id, seconds, body));
  }
  return headers;
}

/** What fetch complains of is in its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof TypeError ? error.cause : undefined;
  return messageOf(cause ?? error).replace(/^error sending request for url \([^)]*\): /, "");
}

/** The runtime tells the URL in its errors, which may be a secret. */
function withoutUrl(text: string, url: string): string {
  const { href, pathname, search } = new URL(url);
  const hidden = pathname + search;
  const open = text.replaceAll(href, shownUrl(url)).replaceAll(url, shownUrl(url));
  return hidden === "/" ? open : open.replaceAll(hidden, "/…");
}
