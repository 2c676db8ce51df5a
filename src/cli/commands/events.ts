/** `procsup events`: past events; with `-f`, new events too. */

import { ProcsupError } from "../../model/errors.ts";
import { HOST } from "../../model/name.ts";
import { plainText } from "../../model/plain_text.ts";
import type { ChangeType } from "../../model/process_info.ts";
import { following, unending } from "../../protocol/streams.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { clockTime } from "../human.ts";
import { jsonLines, refuseWholeFormats } from "../output.ts";
import { paintState } from "../paint.ts";
import { commandHint } from "../../model/hint.ts";

interface EventJson {
  readonly type: string;
  readonly at: string;
  readonly name?: string;
  readonly reason?: string;
  readonly by?: string;
}

/** Number of events printed if neither a time nor a number is given. */
const RECENT = 20;
/** The largest limit that the daemon accepts; 0 means all. */
const MAX_LIMIT = 10_000;

/** Prints past events; with `-f`, follows new ones, also across an upgrade of the daemon. */
export async function events(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  refuseWholeFormats(output, "events");
  const follows = flags.on("follow");
  if (follows && flags.text("until") !== undefined) {
    const hint = commandHint("help", "events");
    throw new ProcsupError("bad_request", "Cannot use --until with --follow", { hint });
  }
  const now = new Date().toISOString();
  await printPast(context, follows ? now : undefined);
  if (follows) await follow(context, now);
}

/** Prints the events up to now. `now` is undefined unless new ones follow. */
async function printPast(context: CommandContext, now?: string): Promise<void> {
  const { positionals: [target], flags, output } = context;
  const [since, until] = [flags.text("since"), flags.text("until") ?? now];
  const isOfTime = since !== undefined || flags.text("until") !== undefined;
  const count = flags.int("lines") ?? (isOfTime ? Infinity : RECENT);
  if (count === 0) return now === undefined ? printEvents(context, []) : undefined;
  const { events } = await connect(context).call("events", {
    target,
    since,
    until,
    type: flags.text("type") as ChangeType | undefined,
    limit: count > MAX_LIMIT ? 0 : count,
  });
  const last = events.slice(-count);
  printEvents(context, last);
  if (last.length === 0 && now === undefined) output.note("no matching events");
}

async function follow(context: CommandContext, from: string): Promise<void> {
  const { positionals: [target], output, flags } = context;
  const type = flags.text("type");
  const client = connect(context);
  // After an upgrade, resume from the last event, to include those of the new daemon's start.
  let since = from;
  const events = following<EventJson>({
    open: async () => {
      const query = new URLSearchParams({ since, ...(target ? { target } : {}) });
      return unending(await client.stream(`/events?${query}`));
    },
    note: (message) => output.note(message),
  });
  for await (const value of events) {
    since = value.at;
    if (type === undefined || value.type === type) printEvents(context, [value]);
  }
}

function printEvents({ output, flags }: CommandContext, events: readonly EventJson[]): void {
  if (output.isJson) {
    const { print, end } = jsonLines(output, flags.on("follow"));
    for (const event of events) print(JSON.stringify(event));
    end();
  } else for (const event of events) output.data(eventText(event, output.color));
}

/** The text of an event. Not every type is a state: `deleted`, for example. */
function eventText({ type, at, name, reason, by }: EventJson, color: boolean): string {
  const word = paintState(plainText(type), type, color);
  const because = type === "restarted" && reason ? `${word}: ${plainText(reason)}` : undefined;
  const words = [
    clockTime(at),
    name === HOST ? "host" : plainText(name ?? "-"),
    ...because === undefined ? [word, ...(reason ? [plainText(reason)] : [])] : [because],
    ...(by ? [`by ${plainText(by)}`] : []),
  ];
  return words.join("  ");
}
