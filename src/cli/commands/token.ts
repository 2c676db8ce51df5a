/** `procsup token`: the daemon's own token, and named ones for others. */

import type { Role } from "../../verbs/verb.ts";
import type { TokenJson } from "../../protocol/wire.ts";
import { type Column, printList } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { printData, printDone } from "../output.ts";
import { refuseFlags, refuseMore, verbIn, wordAfter } from "../unknown_word.ts";

/** Prints the token, or replaces it with `--rotate`; creates, lists or revokes named tokens. */
export async function token(context: CommandContext): Promise<void> {
  const [verb, name] = context.positionals;
  if (verb === undefined) return await printToken(context);
  await verbIn("token", { create, list, revoke }, verb)(context, name);
}

async function printToken(context: CommandContext): Promise<void> {
  refuseFlags(context, "token", ["rotate"]);
  const rotate = context.flags.on("rotate");
  const data = await connect(context).call("token", rotate ? { rotate } : undefined);
  if (!await printData(context.output, data)) context.output.data(data.token);
}

async function create(context: CommandContext, word?: string): Promise<void> {
  const name = wordAfter("token create", word, "<name>");
  refuseFlags(context, "token create", ["role", "only", "expires"]);
  const { flags } = context;
  const data = await connect(context).call("token_create", {
    name,
    role: flags.text("role") as Role | undefined,
    only: flags.text("only")?.split(",").map((word) => word.trim()),
    expires: flags.text("expires"),
  });
  if (await printData(context.output, data, [data.name])) return;
  const where = data.only === undefined ? "" : `, only ${data.only.join(", ")}`;
  const until = data.expires_at === undefined ? "" : `, until ${data.expires_at}`;
  context.output.note(`token "${name}" for ${data.role}${where}${until}; it is not shown again`);
  context.output.data(data.token);
}

async function revoke(context: CommandContext, word?: string): Promise<void> {
  const name = wordAfter("token revoke", word, "<name>");
  refuseFlags(context, "token revoke");
  const data = await connect(context).call("token_revoke", { name });
  await printDone(context.output, data, `token "${name}" is revoked`);
}

const COLUMNS: readonly Column<TokenJson>[] = [
  { header: "NAME", priority: 0, value: ({ name }) => name },
  { header: "ROLE", priority: 0, value: ({ role }) => role },
  { header: "ONLY", priority: 0, value: ({ only }) => only?.join(",") ?? "-" },
  { header: "EXPIRES", priority: 1, value: ({ expires_at }) => expires_at ?? "-" },
  { header: "LAST USED", priority: 2, value: ({ last_used_at }) => last_used_at ?? "-" },
  { header: "CREATED", priority: 3, value: ({ created_at }) => created_at },
  { header: "BY", priority: 4, value: ({ made_by }) => made_by ?? "owner" },
];

async function list(context: CommandContext): Promise<void> {
  refuseMore("token list", context.positionals.slice(1), 0);
  refuseFlags(context, "token list");
  const tokens = await connect(context).call("token_list");
  const none = "no named tokens\n  hint: procsup token create <name> --role read";
  await printList(context.output, COLUMNS, tokens, none);
}
