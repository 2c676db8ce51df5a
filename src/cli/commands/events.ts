/** `procsup events`: what happens to processes, as it happens. */

import type { ProcessState } from "../../model/process_info.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { clockTime } from "../describe.ts";
import { following } from "../following.ts";
import { paintState } from "../paint.ts";
import { plainText } from "../terminal_text.ts";

interface EventJson {
  readonly type: string;
  readonly at: string;
  readonly name?: string;
  readonly state?: ProcessState;
  readonly reason?: string;
}

/** Prints events until it is interrupted, over an upgrade of the daemon too. */
export async function run(context: CommandContext): Promise<void> {
  const { positionals: [target], output } = context;
  const client = connect(context);
  const raw = output.format === "json" || output.format === "jsonl";
  // The next daemon tells what it found when it came up, too.
  let since = new Date().toISOString();
  const events = following<EventJson>({
    open: () =>
      client.stream(`/events?${new URLSearchParams({ since, ...(target ? { target } : {}) })}`),
    note: (message) => output.note(message),
  });
  for (;;) {
    const { value } = await events.next();
    since = value.at;
    output.data(raw ? JSON.stringify(value) : eventText(value, output.color));
  }
}

function eventText({ type, at, name, state, reason }: EventJson, color: boolean): string {
  const word = state === undefined ? type : paintState(state, state, color);
  const words = [clockTime(at), name ?? "-", word, ...(reason ? [plainText(reason)] : [])];
  return words.join("  ");
}
