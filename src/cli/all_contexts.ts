/** `procsup list --all-contexts`: the apps of several machines and engines in one table. */

import { askContexts, type ContextAnswer } from "../contexts/all_contexts.ts";
import { ERROR_TABLE, messageOf, ProcsupError } from "../model/errors.ts";
import { plainText } from "../model/plain_text.ts";
import { selectPresent } from "../protocol/select_processes.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { type Column, printTable } from "./columns.ts";
import type { CommandContext } from "./command.ts";
import type { Copy } from "./commands/on.ts";
import { writeMessage } from "./output.ts";
import { printData } from "./print_data.ts";

type Answer = ContextAnswer<Copy>;

interface Row {
  readonly context: string;
  /** Undefined for an engine, and for a machine that does not answer. */
  readonly process?: ProcessJson;
  readonly copy?: Copy;
}

/** Prints the apps, and the errors of contexts that do not answer. The worst exit code wins. */
export async function listAllContexts(
  context: CommandContext,
  columns: readonly Column<ProcessJson>[],
): Promise<number> {
  if (context.flags.on("watch")) {
    throw new ProcsupError("bad_request", "Cannot use --watch with --all-contexts");
  }
  const { positionals } = context;
  const answers = await askContexts(() => context.home, async (engine) => {
    const { listEngine } = await import("./commands/on.ts");
    return await listEngine(engine, positionals);
  });
  const found = answers.map((answer) => ({
    ...answer,
    processes: selectPresent(answer.processes, positionals),
  }));
  await print(context, columns, found);
  return Math.max(...answers.map(exitCode));
}

async function print(
  { output }: CommandContext,
  columns: readonly Column<ProcessJson>[],
  answers: readonly Answer[],
): Promise<void> {
  const items = answers.flatMap(({ context, processes, copies, error }) => [
    ...[...processes, ...copies].map((one) => ({ context, ...one })),
    ...(error === undefined ? [] : [{ context, error: messageOf(error), code: codeOf(error) }]),
  ]);
  const names = answers.flatMap(({ context, processes, copies }) =>
    [...processes, ...copies].map(({ name }) => `${context}/${name}`)
  );
  if (await printData(output, items, names)) return;
  const rows = answers.flatMap(({ context, processes, copies, error }): Row[] => [
    ...processes.map((process) => ({ context, process })),
    ...copies.map((copy) => ({ context, copy })),
    ...(error === undefined ? [] : [{ context }]),
  ]);
  printTable(output, columnsOf(columns), rows);
  for (const { context, error } of answers) {
    if (error !== undefined) writeMessage(`✘ ${context}  ${messageOf(error)}\n`);
  }
}

/** The columns that are filled for copies on an engine. */
const COPY_CELLS: Readonly<Record<string, (copy: Copy) => string>> = {
  NAME: ({ name }) => name,
  STATE: ({ state }) => state,
  REASON: ({ reason }) => plainText(reason) || "-",
};

function columnsOf(columns: readonly Column<ProcessJson>[]): readonly Column<Row>[] {
  return [
    { header: "CONTEXT", priority: 0, value: ({ context }) => context },
    ...columns.map(({ value, paint, ...column }): Column<Row> => ({
      ...column,
      value: ({ process, copy }) => {
        if (process !== undefined) return value(process);
        if (copy === undefined) return column.header === "STATE" ? "unreachable" : "-";
        return COPY_CELLS[column.header]?.(copy) ?? "-";
      },
      paint: (text, { process }) =>
        process === undefined || paint === undefined ? text : paint(text, process),
    })),
  ];
}

function codeOf(error: unknown) {
  return error instanceof ProcsupError ? error.code : "internal";
}

function exitCode({ error }: Answer): number {
  return error === undefined ? 0 : ERROR_TABLE[codeOf(error)].exit;
}
