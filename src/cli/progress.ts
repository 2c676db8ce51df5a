/** Shows on the terminal what a command waits for. Prints nothing to a pipe. */

import type { CommandContext } from "./command.ts";
import type { Output } from "./output.ts";

/** Delay before progress is shown. An ordinary start takes less. */
const FIRST_MS = 1500;

/** Runs `act`. Meanwhile shows a line for each process that it waits for. */
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

/** Runs `act`. If it takes long, shows a line with the elapsed time. */
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
