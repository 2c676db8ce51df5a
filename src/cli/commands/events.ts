/** `procsup events`: what happens to processes, as it happens, or what happened to them. */

import { plainText } from "../../model/plain_text.ts";
import { PROCESS_STATES } from "../../model/process_info.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { clockTime } from "../describe.ts";
import { following } from "../following.ts";
import { ndjson } from "../../protocol/ndjson.ts";
import { refuseWholeFormats } from "../line_format.ts";
import { paintState } from "../paint.ts";

interface EventJson {
  readonly type: string;
  readonly at: string;
  readonly name?: string;
  readonly reason?: string;
}

/** Prints events until it is interrupted, over an upgrade of the daemon too; those of a time, at once. */
export async function run(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  refuseWholeFormats(output, "events");
  const past = flags.text("since") !== undefined || flags.text("until") !== undefined;
  if (past) return await printPast(context);
  await follow(context);
}

async function printPast(context: CommandContext): Promise<void> {
  const { positionals: [target], flags } = context;
  const query = new URLSearchParams({ past: "true", ...(target ? { target } : {}) });
  for (const name of ["since", "until"]) {
    const value = flags.text(name);
    if (value !== undefined) query.set(name, value);
  }
  const stream = await connect(context).stream(`/events?${query}`);
  let any = false;
  for await (const { value } of ndjson<EventJson>(stream, false)) {
    any = true;
    print(context, value);
  }
  if (!any) context.output.note("nothing is on record for that");
}

async function follow(context: CommandContext): Promise<never> {
  const { positionals: [target], output } = context;
  const client = connect(context);
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
    print(context, value);
  }
}

function print({ output }: CommandContext, event: EventJson): void {
  const raw = output.format === "json" || output.format === "jsonl";
  output.data(raw ? JSON.stringify(event) : eventText(event, output.color));
}

/** What happened, which is not always a state: an app that is deleted was stopped before. */
function eventText({ type, at, name, reason }: EventJson, color: boolean): string {
  const state = PROCESS_STATES.find((state) => state === type);
  const word = state === undefined ? plainText(type) : paintState(state, state, color);
  const words = [clockTime(at), name ?? "-", word, ...(reason ? [plainText(reason)] : [])];
  return words.join("  ");
}
