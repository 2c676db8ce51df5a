/** `procsup events`: what happens to processes, as it happens. */

import type { ProcessState } from "../../model/process_info.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { clockTime } from "../describe.ts";
import { ndjson } from "../../protocol/ndjson.ts";
import { paintState } from "../paint.ts";
import { plainText } from "../terminal_text.ts";

interface EventJson {
  readonly type: string;
  readonly at: string;
  readonly name?: string;
  readonly state?: ProcessState;
  readonly reason?: string;
}

/** Prints events until it is interrupted. */
export async function run(context: CommandContext): Promise<void> {
  const { positionals: [target], output } = context;
  const client = connect(context);
  const stream = await client.stream(`/events?${new URLSearchParams(target ? { target } : {})}`);
  const raw = output.format === "json" || output.format === "jsonl";
  for await (const { value, line } of ndjson<EventJson>(stream, true)) {
    output.data(raw ? line : eventText(value, output.color));
  }
}

function eventText({ type, at, name, state, reason }: EventJson, color: boolean): string {
  const word = state === undefined ? type : paintState(state, state, color);
  const words = [clockTime(at), name ?? "-", word, ...(reason ? [plainText(reason)] : [])];
  return words.join("  ");
}
