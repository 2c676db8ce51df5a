/** `procsup list --all-contexts`: the apps of several machines and engines in one table. */

import { askContexts } from "../contexts/all_contexts.ts";
import { ERROR_TABLE, messageOf, ProcsupError } from "../model/errors.ts";
import { selectPresent } from "../protocol/select_processes.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { type Column, printTable } from "./columns.ts";
import type { CommandContext } from "./command.ts";
import { type Copy, COPY_COLUMNS, listEngine } from "./commands/on.ts";
import { printData, writeMessage } from "./output.ts";

/** An app of a machine, a copy on an engine, or the error of a context. */
interface Row {
  readonly context: string;
  readonly process?: ProcessJson;
  readonly copy?: Copy;
  readonly error?: unknown;
}

/** Prints the apps, and the errors of contexts that do not answer. The worst exit code wins. */
export async function listAllContexts(
  context: CommandContext,
  columns: readonly Column<ProcessJson>[],
): Promise<number> {
  const { flags, output, positionals } = context;
  if (flags.on("watch")) {
    throw new ProcsupError("bad_request", "Cannot use --watch with --all-contexts");
  }
  const answers = await askContexts(
    () => context.home,
    async (engine, signal) => await listEngine({ ...engine, signal }, positionals),
  );
  const rows = answers.flatMap(({ context, processes, copies, error }): Row[] => [
    ...selectPresent(processes, positionals).map((process) => ({ context, process })),
    ...copies.map((copy) => ({ context, copy })),
    ...(error === undefined ? [] : [{ context, error }]),
  ]);
  const failed = rows.filter(({ error }) => error !== undefined);
  const data = rows.map(({ context, process, copy, error }) => (
    { context, ...process ?? copy ?? { error: messageOf(error), code: codeOf(error) } }
  ));
  const names = rows.filter((row) => !failed.includes(row))
    .map(({ context, process, copy }) => `${context}/${(process ?? copy)!.name}`);
  if (!await printData(output, data, names)) {
    printTable(output, columnsOf(columns), rows);
    for (const { context, error } of failed) {
      writeMessage(`✘ ${context}  ${messageOf(error)}\n`);
    }
  }
  return Math.max(0, ...failed.map(({ error }) => ERROR_TABLE[codeOf(error)].exit));
}

function columnsOf(columns: readonly Column<ProcessJson>[]): readonly Column<Row>[] {
  return [
    { header: "CONTEXT", priority: 0, value: ({ context }) => context },
    ...columns.map(({ value, paint, isShown = () => true, ...column }): Column<Row> => ({
      ...column,
      isShown: (rows) => isShown(rows.flatMap(({ process }) => process ?? [])),
      value: ({ process, copy }) => {
        if (process !== undefined) return value(process);
        if (copy === undefined) return column.header === "STATE" ? "unreachable" : "-";
        return COPY_COLUMNS.find(({ header }) => header === column.header)?.value(copy) ?? "-";
      },
      paint: (text, { process }) =>
        process === undefined || paint === undefined ? text : paint(text, process),
    })),
  ];
}

function codeOf(error: unknown) {
  return error instanceof ProcsupError ? error.code : "internal";
}
