/** What a command waits for, on the terminal while it waits. Nothing of it in a pipe. */

import type { CommandContext } from "./command.ts";
import type { Output } from "./output.ts";

/** An ordinary start is over by then. */
const FIRST_MS = 1500;

/** Runs `act`. Meanwhile shows, a line each, the processes that are on their way and what for. */
export function withProcesses<T>(
  context: CommandContext,
  act: () => Promise<T>,
  bar = false,
): Promise<T> {
  const since = Date.now();
  return withLines(context.output, act, async (signal) => {
    const { showProcesses } = await import("./progress_lines.ts");
    await showProcesses(context, { since, bar, signal });
  });
}

/** Runs `act`. Shows a line with the time so far when it takes long. */
export function withNotice<T>(output: Output, what: string, act: () => Promise<T>): Promise<T> {
  const since = Date.now();
  return withLines(output, act, async (signal) => {
    const { showNotice } = await import("./progress_lines.ts");
    showNotice(output, what, { since, signal });
  });
}

async function withLines<T>(
  output: Output,
  act: () => Promise<T>,
  show: (signal: AbortSignal) => Promise<void>,
): Promise<T> {
  if (!output.redraws) return await act();
  const over = new AbortController();
  const timer = setTimeout(() => void show(over.signal), FIRST_MS);
  try {
    return await act();
  } finally {
    clearTimeout(timer);
    over.abort();
    output.redraw([]);
  }
}
