/** `procsup __complete`: what the completion scripts ask. Quick, silent, and never starts a daemon. */

import { plainText } from "../../model/plain_text.ts";
import type { CommandContext } from "../command.ts";
import { type Candidate, candidates } from "../completion/candidates.ts";
import { typedHome } from "../completion/typed_home.ts";
import { absolute } from "../../platform/paths.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";

/** Longer than a person waits for a tab. */
const PATIENCE_MS = 400;

/** Prints the words that may come next, one a line, each with a tab and what it is. */
export async function run(context: CommandContext): Promise<void> {
  const found = await candidates(context.positionals, {
    commands: context.commands,
    names: () => names(context),
  });
  const lines = found.map(({ word, about }) => about === "" ? word : `${word}\t${about}`);
  if (lines.length > 0) context.output.data(lines.join("\n"));
}

/** The apps, and `name` for the instances of each. No daemon, no names. */
async function names(context: CommandContext): Promise<Candidate[]> {
  try {
    const typed = typedHome(context.positionals.slice(0, -1), Deno.env.get("HOME"));
    const client = new DaemonClient(typed === undefined ? context.home : absolute(typed));
    const list = await client.call("list", undefined, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const found = new Map<string, string>();
    for (const { name, state } of list) {
      const [base, index] = name.split(":");
      if (index !== undefined && !found.has(base!)) found.set(base!, "every instance");
      found.set(name, state);
    }
    if (list.length > 0) found.set("all", "every app");
    return [...found].map(([word, about]) => ({ word: plainText(word), about }));
  } catch {
    return [];
  }
}
