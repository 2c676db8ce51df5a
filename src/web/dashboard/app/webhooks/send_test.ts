/** Sends a test to a webhook, and tells how it went. */

import { ask, messageOf } from "../data/api.ts";
import { announce, toast } from "../shell/notices.ts";
import type { WebhookTestJson } from "../data/types.ts";

/** One attempt; a receiver that refuses it is as much an answer as one that takes it. */
export async function sendTest(name: string): Promise<void> {
  const id = toast("busy", `Sending a test to ${name}…`);
  const failed = (detail: string) => {
    toast("failed", `${name} did not take the test`, { id, detail });
    announce(`${name} did not take the test: ${detail}`);
  };
  try {
    const path = `/webhooks/${encodeURIComponent(name)}/test`;
    const { ok, status, error } = await ask<WebhookTestJson>(path, { method: "POST" });
    if (!ok) return failed(error);
    toast("done", `${name} took the test: it answered ${status}`, { id });
    announce(`${name} took the test`);
  } catch (error) {
    failed(messageOf(error));
  }
}
