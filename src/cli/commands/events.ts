/** `procsup events`: what happens to processes, as it happens. */

import { plainText } from "../../model/plain_text.ts";
import { PROCESS_STATES } from "../../model/process_info.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { clockTime } from "../describe.ts";
import { following } from "../following.ts";
import { refuseWholeFormats } from "../line_format.ts";
import { paintState } from "../paint.ts";

interface EventJson {
  readonly type: string;
  readonly at: string;
  readonly name?: string;
  readonly reason?: string;
}

/** Prints events until it is interrupted, over an upgrade of the daemon too. */
export async function run(context: CommandContext): Promise<void> {
  const { positionals: [target], output } = context;
  refuseWholeFormats(output, "events");
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

/** What happened, which is not always a state: an app that is deleted was stopped before. */
function eventText({ type, at, name, reason }: EventJson, color: boolean): string {
  const state = PROCESS_STATES.find((state) => state === type);
  const word = state === undefined ? plainText(type) : paintState(state, state, color);
  const words = [clockTime(at), name ?? "-", word, ...(reason ? [plainText(reason)] : [])];
  return words.join("  ");
}
