/** `procsup list --all-contexts`: the apps of several machines and engines in one table. */

import { ERROR_TABLE, messageOf, ProcsupError } from "../model/errors.ts";
import { plainText } from "../model/plain_text.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import { selectPresent } from "../protocol/select_processes.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { type Column, printTable } from "./columns.ts";
import type { CommandContext } from "./command.ts";
import type { Copy } from "./commands/on.ts";
import { Host, readContexts, THIS_MACHINE } from "./host.ts";
import { writeMessage } from "./output.ts";
import { printData } from "./print_data.ts";

/** A machine that takes longer counts as one that does not answer. */
const PATIENCE_MS = 15_000;

interface Answer {
  readonly context: string;
  readonly processes: readonly ProcessJson[];
  /** What an engine runs. */
  readonly copies: readonly Copy[];
  readonly error?: unknown;
}

interface Row {
  readonly context: string;
  /** Undefined for an engine, or without an answer. */
  readonly process?: ProcessJson;
  readonly copy?: Copy;
}

/** Prints the apps, and what does not answer. The exit code is the worst of theirs. */
export async function listAllContexts(
  context: CommandContext,
  columns: readonly Column<ProcessJson>[],
): Promise<number> {
  if (context.flags.on("watch")) {
    throw new ProcsupError("bad_request", "Cannot use --watch with --all-contexts");
  }
  const { positionals } = context;
  const answers = await Promise.all([
    ask(THIS_MACHINE, listOf(() => context.home)),
    ...Object.entries(readContexts().contexts).map(([name, destination]) =>
      ask(
        name,
        "on" in destination
          ? async () => {
            const { listEngine } = await import("./commands/on.ts");
            return { copies: await listEngine(destination, positionals) };
          }
          : listOf(() => new Host({ name, ...destination }, true)),
      )
    ),
  ]);
  const found = answers.map((answer) => ({
    ...answer,
    processes: selectPresent(answer.processes, positionals),
  }));
  await print(context, columns, found);
  return Math.max(...answers.map(exitCode));
}

type List = (signal: AbortSignal) => Promise<Partial<Answer>>;

function listOf(daemon: () => string | Host): List {
  return async (signal) => ({
    processes: await new DaemonClient(daemon()).call("list", undefined, { signal }),
  });
}

async function ask(context: string, list: List): Promise<Answer> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const nothing = { context, processes: [], copies: [] };
  try {
    const late = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason))
    );
    return { ...nothing, ...await Promise.race([list(signal), late]) };
  } catch (cause) {
    const late = `${context} does not answer within ${PATIENCE_MS / 1000}s`;
    const error = signal.aborted ? new ProcsupError("timeout", late, { cause }) : cause;
    return { ...nothing, error };
  }
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

/** Columns that a copy on an engine has, too. */
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
