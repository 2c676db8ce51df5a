/** `procsup roll`: a rolling reload, with its progress. */

import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { ndjson } from "../../protocol/ndjson.ts";
import { printResults } from "../results.ts";

/** Reloads batch by batch and shows how far it has come. */
export async function run(context: CommandContext): Promise<number> {
  const { flags, output, positionals } = context;
  const target = positionals[0]!;
  const client = connect(context);
  const watching = new AbortController();
  if (Deno.stderr.isTerminal()) void showProgress(context, target, watching.signal);
  try {
    const batch = flags.text("batch");
    const data = await client.call("rolling_reload", {
      target,
      ...(batch === undefined ? {} : { batch_size: /^\d+$/.test(batch) ? Number(batch) : batch }),
      wait_ready: !flags.on("no-wait"),
      rollback_on_failure: flags.on("rollback"),
    });
    const code = await printResults(output, data);
    if (data.rolled_back) output.note("rolled back: the old configuration is on all of them");
    return code;
  } finally {
    watching.abort();
  }
}

/** A bar on the terminal that grows as instances come up. */
async function showProgress(
  context: CommandContext,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const client = connect(context);
  const path = `/events?target=${encodeURIComponent(target)}`;
  const seen = new Set<string>();
  try {
    const events = ndjson<{ type: string; name: string }>(await client.stream(path, signal), true);
    for await (const { value: { type, name } } of events) {
      if (type !== "running") continue;
      seen.add(name);
      context.output.note(`${"█".repeat(seen.size)} ${seen.size} up: ${name}`);
    }
  } catch {
    // Progress is a courtesy: the answer tells how it went.
  }
}
