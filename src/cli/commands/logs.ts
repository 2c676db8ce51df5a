/** `procsup logs`: the last lines, and with `-f` those that follow. */

import { baseName } from "../../model/name.ts";
import { type LogLine, type LogStart, positionKey } from "../../model/log_line.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { ndjson } from "../../protocol/ndjson.ts";
import { refuseWholeFormats } from "../line_format.ts";
import { paintName } from "../paint.ts";

/** Prints the lines of the targets by time, each process's name before them where there are several. */
export async function logs(context: CommandContext): Promise<void> {
  refuseWholeFormats(context.output, "logs");
  if (context.flags.on("follow")) return await follow(context);
  const print = await printer(context);
  const stream = await connect(context).stream(`/logs?${query(context)}`);
  for await (const { value, line } of ndjson<LogLine>(stream, false)) print(value, line);
}

/** Each line once, over an upgrade of the daemon: the next one is told what is printed already. */
async function follow(context: CommandContext): Promise<never> {
  const { following } = await import("../following.ts");
  const print = await printer(context);
  const client = connect(context);
  const from: Record<string, number> = {};
  const lines = following<LogLine & { readonly end: number } | LogStart>({
    open: () => client.stream(`/logs?${query(context)}`, undefined, { from }),
    note: (message) => context.output.note(message),
  });
  for (;;) {
    const { value } = await lines.next();
    if ("positions" in value) Object.assign(from, { ...value.positions, ...from });
    else {
      print(value);
      from[positionKey(value)] = value.end;
    }
  }
}

function query({ flags, positionals }: CommandContext): URLSearchParams {
  const query = new URLSearchParams(positionals.map((target) => ["target", target]));
  const lines = flags.int("lines");
  if (lines === 0 && flags.on("follow")) query.set("new", "true");
  else if (lines !== undefined) query.set("lines", String(lines));
  for (const name of ["follow", "invert"]) if (flags.on(name)) query.set(name, "true");
  if (flags.on("ignore-case")) query.set("ignore_case", "true");
  if (flags.on("err")) query.set("stderr", "true");
  if (flags.on("out")) query.set("stdout", "true");
  for (const name of ["since", "until", "grep", "level"]) {
    const value = flags.text(name);
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

/** What prints a line; `json` is the line as it came, where it came as it is to be printed. */
async function printer(
  context: CommandContext,
): Promise<(value: LogLine, json?: string) => void> {
  const { output, flags } = context;
  if (output.format === "json" || output.format === "jsonl") {
    return ({ name, stream, line, at }, json) =>
      output.jsonText(json ?? JSON.stringify({ name, stream, line, at }));
  }
  const [isRaw, isTimed] = [flags.on("raw"), flags.on("timestamps")];
  // A pipe gets lines as they were written.
  const { readableLine } = !isRaw && output.terminal
    ? await import("../log_text.ts")
    : { readableLine: (line: string) => line };
  return ({ name, line, at }) => {
    const text = (isTimed ? `${at} ` : "") + prefix(context, name) +
      readableLine(line, isTimed, output.color);
    if (isRaw) output.raw(`${text}\n`);
    else output.content(text);
  };
}

/** Whether lines of several processes may mix is seen from the targets alone, before they come. */
function prefix({ positionals, output }: CommandContext, name: string): string {
  const [target = "all"] = positionals;
  const mixed = positionals.length !== 1 || target === "all" || /^(ns|tag|label):/.test(target) ||
    (target !== name && target === baseName(name));
  return mixed ? `${paintName(name, name, output.color)} | ` : "";
}
