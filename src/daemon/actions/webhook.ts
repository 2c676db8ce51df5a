/** The verbs about webhooks: how they go, and whether they would. */

import * as z from "zod/mini";
import type { WebhookActionMap } from "../../protocol/webhook_json.ts";
import type { ActionContext } from "./context.ts";
import { readPayload } from "./payload.ts";

type Data<A extends keyof WebhookActionMap> = WebhookActionMap[A]["data"];

/** How each webhook goes. */
export function webhookList({ webhooks }: ActionContext): Data<"webhook_list"> {
  return webhooks.status();
}

const testPayload = z.strictObject({ name: z.optional(z.string().check(z.minLength(1))) });

/** One attempt to send a test to one webhook, or to all. */
export async function webhookTest(
  { webhooks }: ActionContext,
  payload: unknown,
): Promise<Data<"webhook_test">> {
  const given = typeof payload === "string" ? { name: payload } : payload ?? {};
  return await webhooks.test(readPayload(testPayload, given).name);
}
