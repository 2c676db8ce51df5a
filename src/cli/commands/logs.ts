/** `procsup logs`: the last lines, and with `-f` those that follow. */

import { baseName } from "../../model/name.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { ndjson } from "../ndjson.ts";
import { paintName } from "../paint.ts";
import { colorText, plainText } from "../terminal_text.ts";

const DEFAULT_LINES = 50;

interface LogLine {
  readonly name: string;
  readonly stream: "stdout" | "stderr";
  readonly line: string;
}

/** Prints the lines of the targets, each process's name before them where there are several. */
export async function run(context: CommandContext): Promise<void> {
  const { flags, positionals } = context;
  const client = connect(context);
  const targets = positionals.length === 0 ? ["all"] : positionals;
  const show = async (target: string) => {
    const stream = await client.stream(`/logs?${query(context, target)}`);
    for await (const { value, line } of ndjson<LogLine>(stream, flags.on("follow"))) {
      printLine(context, target, value, line);
    }
  };
  if (flags.on("follow")) await Promise.all(targets.map(show));
  else for (const target of targets) await show(target);
}

function query({ flags }: CommandContext, target: string): URLSearchParams {
  return new URLSearchParams({
    target,
    lines: String(flags.int("lines") ?? DEFAULT_LINES),
    follow: String(flags.on("follow")),
    stderr: String(flags.on("err")),
  });
}

function printLine(context: CommandContext, target: string, value: LogLine, json: string): void {
  const { output } = context;
  if (output.format === "json" || output.format === "jsonl") return output.data(json);
  const safe = !output.terminal || context.flags.on("raw")
    ? value.line
    : (output.color ? colorText : plainText)(value.line);
  output.data(prefix(context, target, value.name) + safe);
}

/** Whether lines of several processes may mix is seen from the target alone, before they come. */
function prefix({ positionals, output }: CommandContext, target: string, name: string): string {
  const mixed = positionals.length !== 1 || target === "all" || /^(ns|tag|label):/.test(target) ||
    (target !== name && target === baseName(name));
  return mixed ? `${paintName(name, name, output.color)} | ` : "";
}
