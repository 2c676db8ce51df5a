/** `procsup logs`: the last lines; with `-f`, new lines too. */

import { baseName } from "../../model/name.ts";
import { plainText } from "../../model/plain_text.ts";
import { ProcsupError } from "../../model/errors.ts";
import { type LogLevel, type LogLine, type LogStart, positionKey } from "../../model/log_line.ts";
import type { ChangeJson } from "../../protocol/process_json.ts";
import type { FoundLinesJson } from "../../protocol/wire.ts";
import { type Column, printList, right } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { selectPresent } from "../../protocol/select_processes.ts";
import { LineWindow } from "../../protocol/line_window.ts";
import { following, ndjson, unending } from "../../protocol/streams.ts";
import { clockTime } from "../human.ts";
import { lineFormat, LogPrinter } from "../log_printer.ts";
import { jsonLines, refuseWholeFormats } from "../output.ts";
import { commandHint } from "../../model/hint.ts";

/** Prints the lines of the targets by time, with name prefixes if there are several processes. */
export async function logs(context: CommandContext): Promise<void> {
  if (context.flags.text("cursor-file") !== undefined) {
    const { shipLogs } = await import("../log_shipping.ts");
    return await shipLogs(context, query(context));
  }
  if (context.flags.on("group")) return await group(context);
  refuseWholeFormats(context.output, "logs");
  if (context.flags.on("follow")) return await follow(context);
  const { print, end } = await printer(context, new LogPrinter(context.output));
  const stream = await connect(context).stream(`/logs?${query(context)}`);
  let isEmpty = true;
  try {
    for await (const { value, line } of ndjson<LogLine>(stream, false)) {
      print(value, line);
      isEmpty = false;
    }
  } finally {
    end();
  }
  if (isEmpty && !context.output.isJson) context.output.note("no matching lines");
  await noteProblems(context);
}

/** Prints the patterns of lines, the most frequent first. */
async function group(context: CommandContext): Promise<void> {
  const { flags, output, positionals } = context;
  for (const flag of ["follow", "err", "out", "raw", "timestamps"]) {
    if (!flags.on(flag)) continue;
    const hint = commandHint("help", "logs");
    throw new ProcsupError("bad_request", `Cannot use --${flag} with --group`, { hint });
  }
  const { patterns = [], truncated, searched_since } = await connect(context).call("search_logs", {
    ...{ targets: positionals.length === 0 ? "all" : [...positionals], group_similar: true },
    ...{ since: flags.text("since"), until: flags.text("until"), grep: flags.text("grep") },
    ...(flags.on("invert") && { invert: true }),
    ...(flags.on("ignore-case") && { ignore_case: true }),
    ...{ level: flags.text("level") as LogLevel | undefined, limit: flags.int("lines") },
  });
  await printList(output, PATTERN_COLUMNS, patterns, "no matching lines");
  if (searched_since !== undefined) {
    output.note(`older lines than ${clockTime(searched_since)} were too many to be counted`);
  } else if (truncated) output.note("there are more patterns: -n takes up to 1000");
}

type LinePattern = NonNullable<FoundLinesJson["patterns"]>[number];

const PATTERN_COLUMNS: readonly Column<LinePattern>[] = [
  right("COUNT", 0, ({ count }) => String(count)),
  { header: "FIRST", priority: 3, value: ({ first_at }) => clockTime(first_at) },
  { header: "LAST", priority: 1, value: ({ at }) => clockTime(at) },
  { header: "APPS", priority: 2, value: ({ apps }) => shortList(apps) },
  { header: "LINE", priority: 0, value: ({ line }) => plainText(line).slice(0, MAX_SHOWN) },
];

/** Characters of a pattern in the table. */
const MAX_SHOWN = 200;
const MAX_NAMES = 3;

function shortList(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  const shown = more > 1 ? [...names.slice(0, MAX_NAMES), `${more} more`] : names;
  return plainText(shown.join(", "));
}

/** Warns of logs that were truncated or moved: lines may be missing. */
async function noteProblems(context: CommandContext): Promise<void> {
  if (context.output.isJson) return;
  const all = await connect(context).call("list").catch(() => []);
  for (const { name, log_problem } of selectPresent(all, context.positionals)) {
    if (log_problem !== undefined) context.output.note(`${name}: ${log_problem}`);
  }
}

/** Prints each line once across a daemon upgrade, by resuming after the last line that came. */
async function follow(context: CommandContext): Promise<void> {
  const names = new LogPrinter(context.output);
  const { print } = await printer(context, names);
  await noteProblems(context);
  const client = connect(context);
  const { output, flags } = context;
  if (output.terminal && output.isForPeople && !flags.on("raw")) void printEvents(context, names);
  const from: Record<string, number> = {};
  const lines = following<LogLine | LogStart>({
    open: async () => unending(await client.stream(`/logs?${query(context)}`, undefined, { from })),
    note: (message) => output.note(message),
  });
  const window = new LineWindow<LogLine>((lines) => lines.forEach((line) => print(line)));
  try {
    for await (const value of lines) {
      if ("positions" in value) {
        Object.keys(value.positions).forEach((key) => names.expect(key.slice(0, key.indexOf("/"))));
        Object.assign(from, { ...value.positions, ...from });
        window.started(value);
      } else {
        from[positionKey(value)] = value.end;
        window.add([value]);
      }
    }
  } finally {
    window.end();
  }
}

function query({ flags, output, positionals }: CommandContext): URLSearchParams {
  const query = new URLSearchParams(positionals.map((target) => ["target", target]));
  const lines = flags.int("lines");
  if (lines === 0 && flags.on("follow")) query.set("new", "true");
  else if (lines !== undefined) query.set("lines", String(lines));
  if (flags.on("raw") && !output.isJson) query.set("exact", "true");
  if (flags.on("follow") && !output.isJson) query.set("unfinished", "true");
  const switches = { follow: "follow", invert: "invert", "ignore-case": "ignore_case" };
  for (const [flag, key] of Object.entries({ ...switches, err: "stderr", out: "stdout" })) {
    if (flags.on(flag)) query.set(key, "true");
  }
  for (const name of ["since", "until", "grep", "level"]) {
    const value = flags.text(name);
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

interface Printer {
  /** Prints a line; `json` is its JSON text if that can be printed unchanged. */
  readonly print: (value: LogLine, json?: string) => void;
  /** Call it after the last line. */
  readonly end: () => void;
}

async function printer(context: CommandContext, names: LogPrinter): Promise<Printer> {
  const { output, flags } = context;
  if (output.isJson) {
    const { print, end } = jsonLines(output, flags.on("follow"));
    return {
      print: (value, json) => print(json ?? JSON.stringify(value)),
      end,
    };
  }
  const [isRaw, isTimed] = [flags.on("raw"), flags.on("timestamps")];
  const format = await lineFormat(output, { isRaw, isTimed });
  const print = (value: LogLine) => {
    const piece = { from: positionKey(value), partial: value.partial };
    const begins = !output.continues(piece.from);
    const time = begins && isTimed ? `${value.at} ` : "";
    const shown = output.terminal || output.color ? value.line : plainText(value.line);
    const line = format({ ...value, line: shown });
    const drawn = isRaw ? "" : line.text;
    const isPrefixed = begins && isMixed(context, value.name);
    const text = isPrefixed ? names.prefixed(value.name, line.mark, drawn) : drawn;
    if (isRaw) output.exact(time + text, value.line, "stdout", piece);
    else output.content(time + text, "stdout", piece);
  };
  return { print, end: () => isRaw || output.endLines() };
}

/** True if the targets may include several processes. */
function isMixed({ positionals }: CommandContext, name: string): boolean {
  const [target = "all"] = positionals;
  return positionals.length !== 1 || target === "all" || /^(ns|tag|label):/.test(target) ||
    (target !== name && target === baseName(name));
}

/** Prints starts and exits of the apps between the lines. Errors of the event stream are ignored. */
async function printEvents(context: CommandContext, names: LogPrinter): Promise<void> {
  const targets = context.positionals.length === 0 ? ["all"] : context.positionals;
  const client = connect(context);
  await Promise.all(targets.map(async (target) => {
    const query = new URLSearchParams({ target });
    const open = async () => unending<ChangeJson>(await client.stream(`/events?${query}`));
    for await (const event of following({ open })) names.notify(event);
  })).catch(() => {});
}
