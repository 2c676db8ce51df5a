/** One attempt to deliver a message. */

import { shownUrl, type Webhook } from "../../model/webhook.ts";
import { retryAfter, type Verdict, verdictOf } from "../../model/webhook_rules.ts";
import { timeoutSignal } from "../../platform/clock.ts";
import { fetchProblem, withoutProxyHere } from "../../platform/direct_http.ts";
import { VERSION } from "../../protocol/version.ts";
import { bodyIn } from "./formats.ts";
import type { Message } from "./message.ts";
import { signature } from "./secret.ts";

export interface Attempt {
  readonly verdict: Verdict;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** What went wrong, without secret parts of the URL; empty on success. */
  readonly error: string;
  /** Delay that the receiver asked for. */
  readonly askedMs: number;
}

/** Sends a message. Never throws: on failure it can be sent again. */
export async function attempt(
  webhook: Webhook,
  message: Message,
  key: () => Promise<CryptoKey | undefined>,
  signal: AbortSignal,
): Promise<Attempt> {
  const deadline = timeoutSignal(webhook.timeoutMs);
  try {
    const sent = { id: message.id, body: bodyIn(webhook.format, message.body) };
    const response = await fetch(webhook.url, {
      method: "POST",
      headers: await headersOf(sent, await key()),
      body: sent.body,
      redirect: "manual",
      signal: AbortSignal.any([signal, deadline]),
      ...withoutProxyHere(webhook.url),
    });
    const { status, headers } = response;
    // The body is not needed, and it may be endless.
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
    const why = deadline.aborted ? late : withoutUrl(fetchProblem(error), webhook.url);
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
  if (key !== undefined) headers.set("webhook-signature", await signature(key, id, seconds, body));
  return headers;
}

/** Removes the URL, which may be a secret, from an error of the runtime. */
function withoutUrl(text: string, url: string): string {
  const { href, pathname, search } = new URL(url);
  const hidden = pathname + search;
  const open = text.replaceAll(href, shownUrl(url)).replaceAll(url, shownUrl(url));
  return hidden === "/" ? open : open.replaceAll(hidden, "/…");
}
