/** `procsup list --watch`: prints the list repeatedly, for people or for programs. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { USAGE_FIELDS } from "../protocol/process_json.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { selectPresent } from "../protocol/select_processes.ts";
import { type Column, tableLines } from "./columns.ts";
import type { CommandContext } from "./command.ts";
import { connect } from "./connect.ts";
import { intervalOf, ListFeed } from "./list_feed.ts";
import { type Output, terminalSize } from "./output.ts";
import { terminalText } from "./terminal_text.ts";
import { cut } from "./top/text.ts";

/** The lines of a table for a terminal of `width` columns. */
type Table = (processes: readonly ProcessJson[], width?: number) => readonly string[];

/**
 * Shows the list until interrupted. On a terminal, draws it in place and reconnects to a lost
 * daemon. In a pipe, prints it when it changes, and fails when the daemon is gone.
 */
export async function watchList(
  context: CommandContext,
  columns: readonly Column<ProcessJson>[],
): Promise<void> {
  const { output, flags } = context;
  const intervalMs = intervalOf(flags.text("interval"));
  const client = connect(context);
  const inPlace = output.terminal && Deno.env.get("TERM") !== "dumb";
  const table: Table = (processes, width) =>
    tableLines(columns, processes, output.format === "wide" ? undefined : width);
  const show = showing(output, table, inPlace);
  let shown: readonly ProcessJson[] | undefined;
  const feed = new ListFeed(client, {
    intervalMs,
    onList: (processes) => show(shown = selectPresent(processes, context.positionals)),
    onLost: (error) => {
      if (shown === undefined || !inPlace || output.isJson) throw error;
      show(shown, `connection lost, retrying: ${messageOf(error)}`);
    },
  });
  await feed.run();
}

function showing(
  output: Output,
  table: Table,
  inPlace: boolean,
): (processes: readonly ProcessJson[], below?: string) => void {
  if (output.isJson) return changesAsLines(output);
  if (!output.isForPeople) {
    throw new ProcsupError("bad_request", `Cannot watch with -o ${output.format}`, {
      hint: "procsup list --watch -o jsonl",
    });
  }
  return inPlace ? inPlaceOf(output, table) : whenChanged(output, table);
}

/** Prints one line per app: all apps first, then those that changed in more than usage. */
function changesAsLines(output: Output): (processes: readonly ProcessJson[]) => void {
  let before: readonly ProcessJson[] = [];
  return (processes) => {
    for (const item of changedProcesses(before, processes)) output.json(item);
    before = processes;
  };
}

function whenChanged(output: Output, table: Table): (processes: readonly ProcessJson[]) => void {
  let before: readonly ProcessJson[] | undefined;
  return (processes) => {
    const same = before !== undefined && changedProcesses(before, processes).length === 0;
    if (same) return;
    output.data(`${before === undefined ? "" : "\n"}${table(processes).join("\n")}`);
    before = processes;
  };
}

function inPlaceOf(
  output: Output,
  table: Table,
): (processes: readonly ProcessJson[], below?: string) => void {
  let begun = false;
  return (processes, below) => {
    const { columns, rows } = terminalSize();
    // Cut to the screen: if it scrolled, the next frame would be drawn in the wrong place.
    const width = columns - 1;
    const lines = [...table(processes, width), ...(below === undefined ? [] : [below])]
      .map((line) => cut(terminalText(line, output.color), width));
    const left = lines.length - (rows - 1);
    const fitting = left <= 0 ? lines : [...lines.slice(0, rows - 2), `… ${left + 1} more`];
    const clear = begun ? "" : "\x1b[2J";
    begun = true;
    output.raw(`${clear}\x1b[H${fitting.map((line) => `${line}\x1b[K\n`).join("")}\x1b[J`);
  };
}

/** An app that is no longer in the list. */
interface GoneJson {
  readonly id: string;
  readonly name: string;
  readonly deleted: true;
}

const RESTLESS: ReadonlySet<string> = new Set(USAGE_FIELDS);

/** The apps that are new or changed in more than usage, then those that are gone. */
export function changedProcesses(
  before: readonly ProcessJson[],
  after: readonly ProcessJson[],
): (ProcessJson | GoneJson)[] {
  const known = new Map(before.map((process) => [process.id, restful(process)]));
  const left = new Set(after.map(({ id }) => id));
  return [
    ...after.filter((process) => known.get(process.id) !== restful(process)),
    ...before.filter(({ id }) => !left.has(id))
      .map(({ id, name }): GoneJson => ({ id, name, deleted: true })),
  ];
}

function restful(process: ProcessJson): string {
  return JSON.stringify(process, (key, value) => RESTLESS.has(key) ? undefined : value);
}
