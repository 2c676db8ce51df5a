/** `procsup webhook`: manages webhooks. */

import { plainText } from "../../model/plain_text.ts";
import { WEBHOOK_KEYS } from "../../model/settings_keys.ts";
import { resolve } from "@std/path";
import type { WebhookJson } from "../../protocol/wire.ts";
import { type Column, printList, right } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { keysOf, placeOf } from "../config_flags.ts";
import { connect } from "../connect.ts";
import { printData, printDone } from "../output.ts";
import { refuseFlags, refuseMore, verbIn, wordAfter } from "../unknown_word.ts";

/** Lists, sets, deletes or tests webhooks; exit code 1 if a test was not accepted. */
export async function webhook(context: CommandContext): Promise<number | void> {
  const [verb = "list", name] = context.positionals;
  const act = verbIn("webhook", { list, set, delete: remove, test }, verb);
  if (act !== set) refuseFlags(context, `webhook ${verb}`);
  return await act(context, name);
}

const COLUMNS: readonly Column<WebhookJson>[] = [
  { header: "NAME", priority: 0, value: ({ name }) => name },
  { header: "URL", priority: 3, value: ({ url }) => plainText(url) },
  { header: "FORMAT", priority: 5, value: ({ format }) => format },
  { header: "EVENTS", priority: 4, value: ({ events }) => events.join(",") },
  { header: "SIGNED", priority: 5, value: ({ signed }) => signed ? "yes" : "no" },
  right("QUEUED", 2, ({ queued }) => String(queued)),
  right("DELIVERED", 1, ({ delivered }) => String(delivered)),
  right("FAILED", 1, ({ failed }) => String(failed)),
  right("DROPPED", 2, ({ dropped }) => String(dropped)),
  { header: "LAST", priority: 1, value: ({ last }) => last === null ? "-" : lastText(last) },
];

async function list(context: CommandContext): Promise<void> {
  const { output } = context;
  refuseMore("webhook list", context.positionals.slice(1), 0);
  const webhooks = await connect(context).call("webhook_list");
  const none = "no webhooks\n  hint: procsup webhook set <name> --url <url>";
  await printList(output, COLUMNS, webhooks, none);
}

async function set(context: CommandContext, word: string | undefined): Promise<void> {
  const name = wordAfter("webhook set", word, "<name>");
  const place = await placeOf(context);
  const keys = keysOf(WEBHOOK_KEYS, place);
  const [env, file] = [context.flags.text("secret-env"), context.flags.text("secret-file")];
  const sources = {
    ...(env === undefined ? {} : { env }),
    ...(file === undefined ? {} : { file: resolve(place.cwd, file) }),
  };
  const secret = env === undefined && file === undefined ? {} : { secret: sources };
  const data = await connect(context).call("webhook_set", { name, ...keys, ...secret });
  const line = `${data.name}  ${data.events.join(", ")} to ${plainText(data.url)}`;
  await printDone(context.output, data, line, [data.name]);
}

async function remove(context: CommandContext, word: string | undefined): Promise<void> {
  const name = wordAfter("webhook delete", word, "<name>");
  const data = await connect(context).call("webhook_delete", { name });
  await printDone(context.output, data, `${name} is deleted`);
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
