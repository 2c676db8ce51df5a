/** `procsup token`: the daemon's own token, and named ones for others. */

import { ProcsupError } from "../../model/errors.ts";
import type { Role } from "../../protocol/verbs/verb.ts";
import type { TokenJson } from "../../protocol/wire.ts";
import { type Column, tableLines } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { printData } from "../print_data.ts";
import { unknownVerb } from "../unknown_word.ts";

/** Prints the token, a new one with `--rotate`; or makes, lists or revokes a named one. */
export async function token(context: CommandContext): Promise<void> {
  const [verb, name] = context.positionals;
  if (verb === undefined) return await printToken(context);
  if (verb === "list") return await list(context);
  if (verb !== "create" && verb !== "revoke") {
    throw unknownVerb("token", verb, ["create", "list", "revoke"]);
  }
  if (name === undefined) {
    throw new ProcsupError("bad_request", `Too few words for "token ${verb}": <name> is expected`);
  }
  await (verb === "create" ? create(context, name) : revoke(context, name));
}

async function printToken(context: CommandContext): Promise<void> {
  const rotate = context.flags.on("rotate");
  const data = await connect(context).call("token", rotate ? { rotate } : undefined);
  if (!await printData(context.output, data)) context.output.data(data.token);
}

async function create(context: CommandContext, name: string): Promise<void> {
  const role = context.flags.text("role");
  const data = await connect(context).call("token_create", {
    name,
    ...(role === undefined ? {} : { role: role as Role }),
  });
  if (await printData(context.output, data, [data.name])) return;
  context.output.note(`token "${name}" for ${data.role}; it is not shown again`);
  context.output.data(data.token);
}

async function revoke(context: CommandContext, name: string): Promise<void> {
  const data = await connect(context).call("token_revoke", { name });
  if (!await printData(context.output, data)) context.output.done(`✔ token "${name}" is revoked`);
}

const COLUMNS: readonly Column<TokenJson>[] = [
  { header: "NAME", priority: 0, value: ({ name }) => name },
  { header: "ROLE", priority: 0, value: ({ role }) => role },
  { header: "CREATED", priority: 1, value: ({ created_at }) => created_at },
];

async function list(context: CommandContext): Promise<void> {
  const tokens = await connect(context).call("token_list");
  const { output } = context;
  if (await printData(output, tokens, tokens.map(({ name }) => name))) return;
  if (tokens.length === 0) {
    output.note("no named tokens\n  hint: procsup token create <name> --role read");
  } else output.data(tableLines(COLUMNS, tokens, output.width).join("\n"));
}
