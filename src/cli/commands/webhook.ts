/** `procsup webhook`: who is told of trouble, how that goes, and a test. */

import { plainText } from "../../model/plain_text.ts";
import type { WebhookJson } from "../../protocol/wire.ts";
import { type Column, printList } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { printData } from "../print_data.ts";
import { verbIn } from "../unknown_word.ts";

/** Lists them, or sends a test; exit code 1 when one did not take it. */
export async function webhook(context: CommandContext): Promise<number | void> {
  const [verb = "list", name] = context.positionals;
  return await verbIn("webhook", { list, test }, verb)(context, name);
}

const COLUMNS: readonly Column<WebhookJson>[] = [
  { header: "NAME", priority: 0, value: ({ name }) => name },
  { header: "URL", priority: 3, value: ({ url }) => plainText(url) },
  { header: "FORMAT", priority: 5, value: ({ format }) => format },
  { header: "EVENTS", priority: 4, value: ({ events }) => events.join(",") },
  { header: "SIGNED", priority: 5, value: ({ signed }) => signed ? "yes" : "no" },
  { header: "QUEUED", align: "right", priority: 2, value: ({ queued }) => String(queued) },
  { header: "DELIVERED", align: "right", priority: 1, value: ({ delivered }) => String(delivered) },
  { header: "FAILED", align: "right", priority: 1, value: ({ failed }) => String(failed) },
  { header: "DROPPED", align: "right", priority: 2, value: ({ dropped }) => String(dropped) },
  { header: "LAST", priority: 1, value: ({ last }) => last === null ? "-" : lastText(last) },
];

async function list(context: CommandContext): Promise<void> {
  const { output } = context;
  const webhooks = await connect(context).call("webhook_list");
  const none = 'no webhooks\n  hint: add "webhooks" to procsup.yaml, and run: procsup config apply';
  await printList(output, COLUMNS, webhooks, none);
}

async function test(context: CommandContext, name: string | undefined): Promise<number> {
  const { output } = context;
  const results = await connect(context).call("webhook_test", { name });
  const failed = results.some(({ ok }) => !ok);
  if (!await printData(output, results, results.map((result) => result.name))) {
    for (const result of results) {
      output.done(`${result.ok ? "✔" : "✘"} ${result.name}  ${lastText(result)}`);
    }
  }
  return failed ? 1 : 0;
}

function lastText({ ok, status, error }: NonNullable<WebhookJson["last"]>): string {
  return ok ? `answered ${status}` : plainText(error);
}
