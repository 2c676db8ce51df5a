/** The progress lines of a command that waits. */

import { parseDuration } from "../model/duration.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { selectPresent } from "../protocol/select_processes.ts";
import type { CommandContext } from "./command.ts";
import { connectQuietly } from "./connect.ts";
import { humanDuration } from "./human.ts";
import { ListFeed } from "./list_feed.ts";
import { type Output, terminalSize } from "./output.ts";
import { pad, textWidth } from "./terminal_text.ts";
import { cleanLine, shorten } from "./top/text.ts";

const EVERY_MS = 1000;

/** Maximum lines shown; the rest is counted. */
const MOST_LINES = 12;
const BAR_WIDTH = 20;

/** Draws the lines until `signal`; with `bar`, below a bar of the targets that are up again. */
export async function showProcesses(
  context: CommandContext,
  { since, bar, signal }: {
    readonly since: number;
    readonly bar: boolean;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  if (signal.aborted) return;
  const { output, positionals } = context;
  const feed = new ListFeed(connectQuietly(context), {
    intervalMs: EVERY_MS,
    onList(list) {
      const head = bar ? [barLine(selectPresent(list, positionals), since)] : [];
      const lines = [...head, ...processLines(list, since, Date.now())];
      output.redraw(lines.map((line) => shorten(cleanLine(line), columns())));
    },
    // The command itself reports the failure.
    onLost: () => {},
  });
  signal.addEventListener("abort", () => feed.stop());
  await feed.run().catch(() => {});
}

function barLine(all: readonly ProcessJson[], since: number): string {
  const up = all.filter(({ ready, started_at }) => ready && isAfter(started_at, since)).length;
  const filled = all.length === 0 ? 0 : Math.round(BAR_WIDTH * up / all.length);
  const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
  return `${bar}  ${up} of ${all.length} up again`;
}

/** Draws one line with the elapsed time until `signal`. */
export function showNotice(
  output: Output,
  what: string,
  { since, signal }: { readonly since: number; readonly signal: AbortSignal },
): void {
  const show = () => {
    output.redraw([shorten(`… ${what} (${humanDuration(Date.now() - since)})`, columns())]);
  };
  if (signal.aborted) return;
  show();
  const timer = setInterval(show, EVERY_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** One column less than the terminal: a full line would wrap. */
function columns(): number {
  return terminalSize().columns - 1;
}

/** One line for each process that is still starting or stopping. */
export function processLines(
  list: readonly ProcessJson[],
  since: number,
  now: number,
): readonly string[] {
  const rows = list.flatMap((process) => {
    const what = waitsFor(process, since, now);
    return what === undefined ? [] : [{ name: process.name, what }];
  });
  const width = Math.max(...rows.map(({ name }) => textWidth(name)));
  const elapsed = humanDuration(now - since);
  const lines = rows.slice(0, MOST_LINES)
    .map(({ name, what }) => `… ${pad(name, width, "left")}  ${what} (${elapsed})`);
  const more = rows.length - lines.length;
  return more > 0 ? [...lines, `… ${more} more`] : lines;
}

/** What a process waits for; undefined if it is at rest or was not started after `since`. */
function waitsFor(process: ProcessJson, since: number, now: number): string | undefined {
  const { state, last_reason, next_restart_at, started_at, finished_at, config } = process;
  if (next_restart_at !== null) {
    if (!isAfter(finished_at, since)) return undefined;
    return `${last_reason}; restarts in ${humanDuration(Date.parse(next_restart_at) - now)}`;
  }
  switch (state) {
    case "waiting":
      return last_reason;
    case "stopping":
      return `stopping: ${last_reason}`;
    case "starting":
      return readiness(config);
    case "running": {
      const isNew = isAfter(started_at, since) && config.cron === undefined;
      const uptime = now - Date.parse(started_at!);
      const isProven = uptime >= parseDuration(String(config.min_uptime));
      return isNew && !isProven ? `running: has to stay up for ${config.min_uptime}` : undefined;
    }
    default:
      return undefined;
  }
}

function readiness(config: ProcessJson["config"]): string {
  if (config.ready_delay !== undefined) return `ready ${config.ready_delay} after its start`;
  const sign = config.ready_log !== undefined
    ? `a line that matches ${config.ready_log}`
    : config.health_check !== undefined
    ? "its health check"
    : config.wait_ready === true
    ? "its notice that it is ready"
    : undefined;
  if (sign === undefined) return "starting";
  return `waiting for ${sign}, at most ${config.listen_timeout}`;
}

function isAfter(at: string | null, since: number): boolean {
  return at !== null && Date.parse(at) >= since;
}
