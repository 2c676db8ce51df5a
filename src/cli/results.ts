/** Prints the result of a verb for each process. */

import { ERROR_TABLE } from "../model/errors.ts";
import type { BulkResult, ProcessResult } from "../protocol/wire.ts";
import { statusFor } from "../protocol/envelope.ts";
import type { DaemonClient } from "../protocol/daemon_client.ts";
import type { CommandContext } from "./command.ts";
import { connect } from "./connect.ts";
import { type Output, printData, writeMessage } from "./output.ts";
import { paintState } from "./paint.ts";
import { withProcesses } from "./progress.ts";
import { exitCodeOf, hintLine, reportError } from "./report_error.ts";
import { commandHint, shellHint } from "../model/hint.ts";

/** Runs a verb on each target of the command line. Prints results; the worst exit code wins. */
export async function forEachTarget(
  context: CommandContext,
  verb: (client: DaemonClient, target: string) => Promise<BulkResult>,
): Promise<number> {
  const client = connect(context);
  const results: ProcessResult[] = [];
  let status = "";
  const worst = await tryEach(context.command.name, context.positionals, async (target) => {
    const bulk = await withProcesses(context, () => verb(client, target));
    if (status === "" || status === "failed") status = bulk.status;
    results.push(...bulk.results);
  });
  if (status === "") return worst;
  return Math.max(worst, await printResults(context.output, { status, results }));
}

/** Calls `act` for each item, reports failures and returns the worst exit code. */
export async function tryEach<T>(
  command: string,
  items: readonly T[],
  act: (item: T) => Promise<void>,
): Promise<number> {
  let worst = 0;
  for (const item of items) {
    try {
      await act(item);
    } catch (error) {
      const code = reportError(error, command);
      worst = Math.max(worst, code);
      // Without a daemon every target would fail with the same message.
      if (code === ERROR_TABLE.daemon_unreachable.exit) break;
    }
  }
  return worst;
}

/**
 * Prints one line per process: successes to stdout, failures to stderr, and `none` without results.
 * Returns the highest exit code of the failures.
 */
export async function printResults(
  output: Output,
  { results, ...given }: { readonly status: string; readonly results: readonly ProcessResult[] },
  none = "no processes",
): Promise<number> {
  const status = statusFor(given.status, results);
  const names = results.filter((result) => result.ok).map((result) => result.name);
  if (!await printData(output, { ...given, status, results }, names)) {
    if (results.length === 0 && none !== "") output.note(none);
    for (const result of results) {
      if (!result.ok) continue;
      output.done(doneLine(result, status, output.color));
      if (result.hint !== undefined) output.note(`${result.name}: ${shellHint(result.hint)}`);
    }
  }
  return printFailures(results);
}

/** Prints the failures to stderr, in every format. Returns the highest exit code. */
export function printFailures(results: readonly ProcessResult[]): number {
  const failures = results.filter(({ ok }) => !ok);
  for (const failure of failures) writeMessage(failedText(failure));
  return Math.max(0, ...failures.map(({ code }) => exitCodeOf(code)));
}

const STARTED = new Set(["started", "restarted", "reloaded", "rolled_back", "failed"]);

/** Shows `deleted` for a removed instance, the state after a start, and the verb's status after others. */
function doneLine(
  { name, state, pid, scheduled, deleted }: ProcessResult,
  status: string,
  color: boolean,
): string {
  const started = STARTED.has(status);
  if (started && deleted) return `✔ ${name}  deleted`;
  const isScheduled = scheduled === true && state === "stopped";
  const word = !started ? status : isScheduled ? "scheduled" : paintState(state, state, color);
  return `✔ ${name}  ${word}${started && pid > 0 ? `  pid ${pid}` : ""}`;
}

function failedText(
  { name, error, error_line, last_output = [], hint, deleted }: ProcessResult,
): string {
  // Do not print it twice: it usually is the last line of the output.
  const isLast = error_line === undefined || last_output.at(-1)?.trim() === error_line.trim();
  const said = isLast ? "" : `  error: ${error_line}\n`;
  const lines = last_output.map((line) => `    ${line}\n`).join("");
  const hints = [...hint ? [hint] : [], ...deleted ? [] : [commandHint("why", name)]];
  const advice = hints.map((hint) => `${hintLine(hint)}\n`).join("");
  return `✘ ${name}  ${error ?? "failed"}\n${said}${lines}${advice}`;
}

/** Maximum number of shell variables that are listed after a start. */
const MAX_NAMES = 8;

/** Names the variables that new apps got from this shell, or the first of them. */
export function noteFromShell(
  { output }: Pick<CommandContext, "output">,
  names: readonly string[] = [],
): void {
  if (names.length === 0) return;
  const shown = names.slice(0, names.length > MAX_NAMES ? MAX_NAMES - 1 : MAX_NAMES);
  const more = names.length - shown.length;
  output.note(`from this shell: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`);
}
