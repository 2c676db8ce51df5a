/** `procsup list --all-contexts`: the apps of several machines in one table. */

import { ERROR_TABLE, messageOf, ProcsupError } from "../model/errors.ts";
import { checkedHome } from "../platform/paths.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import { selectPresent } from "../protocol/select_processes.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { type Column, printTable } from "./columns.ts";
import type { CommandContext } from "./command.ts";
import { Host, readContexts, THIS_MACHINE } from "./host.ts";
import { writeMessage } from "./output.ts";
import { printData } from "./print_data.ts";

/** A machine that takes longer counts as one that does not answer. */
const PATIENCE_MS = 15_000;

interface Answer {
  readonly context: string;
  readonly processes: readonly ProcessJson[];
  readonly error?: unknown;
}

interface Row {
  readonly context: string;
  /** Undefined for a machine without an answer. */
  readonly process?: ProcessJson;
}

/** Prints the apps, and the machines that do not answer. The exit code is the worst of theirs. */
export async function listAllContexts(
  context: CommandContext,
  columns: readonly Column<ProcessJson>[],
): Promise<number> {
  if (context.flags.on("watch")) {
    throw new ProcsupError("bad_request", "Cannot use --watch with --all-contexts");
  }
  const machines = Object.entries(readContexts().contexts);
  const answers = await Promise.all([
    ask(THIS_MACHINE, () => new DaemonClient(context.host ? checkedHome() : context.home)),
    ...machines.map(([name, machine]) =>
      ask(name, () => new DaemonClient(new Host({ name, ...machine }, true)))
    ),
  ]);
  const found = answers.map((answer) => ({
    ...answer,
    processes: selectPresent(answer.processes, context.positionals),
  }));
  await print(context, columns, found);
  return Math.max(...answers.map(exitCode));
}

async function ask(context: string, open: () => DaemonClient): Promise<Answer> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    return { context, processes: await open().call("list", undefined, { signal }) };
  } catch (cause) {
    const late = `${context} does not answer within ${PATIENCE_MS / 1000}s`;
    const error = signal.aborted ? new ProcsupError("timeout", late, { cause }) : cause;
    return { context, processes: [], error };
  }
}

async function print(
  { output }: CommandContext,
  columns: readonly Column<ProcessJson>[],
  answers: readonly Answer[],
): Promise<void> {
  const items = answers.flatMap(({ context, processes, error }) => [
    ...processes.map((process) => ({ context, ...process })),
    ...(error === undefined ? [] : [{ context, error: messageOf(error), code: codeOf(error) }]),
  ]);
  const names = answers.flatMap(({ context, processes }) =>
    processes.map(({ name }) => `${context}/${name}`)
  );
  if (await printData(output, items, names)) return;
  const rows = answers.flatMap(({ context, processes, error }): Row[] => [
    ...processes.map((process) => ({ context, process })),
    ...(error === undefined ? [] : [{ context }]),
  ]);
  printTable(output, columnsOf(columns), rows);
  for (const { context, error } of answers) {
    if (error !== undefined) writeMessage(`✘ ${context}  ${messageOf(error)}\n`);
  }
}

function columnsOf(columns: readonly Column<ProcessJson>[]): readonly Column<Row>[] {
  return [
    { header: "CONTEXT", priority: 0, value: ({ context }) => context },
    ...columns.map(({ value, paint, ...column }): Column<Row> => ({
      ...column,
      value: ({ process }) => {
        if (process !== undefined) return value(process);
        return column.header === "STATE" ? "unreachable" : "-";
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
