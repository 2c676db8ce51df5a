/** Colours: of the state word, of log prefixes and of what structured log lines hold, nothing else. */

import type { LogLevel } from "../model/log_line.ts";
import type { ProcessState } from "../model/process_info.ts";

const STATE_COLOR: Readonly<Record<ProcessState, number>> = {
  starting: 33,
  running: 32,
  stopping: 33,
  stopped: 2,
  crashed: 31,
  errored: 31,
  waiting: 33,
};

const PREFIX_COLORS = [36, 35, 34, 33, 32];

/** A text that holds the word of a state, in its colour. */
export function paintState(text: string, state: ProcessState, color: boolean): string {
  return color ? paint(text, STATE_COLOR[state] ?? 0) : text;
}

/** A name before a line, each process in its own colour. */
export function paintName(text: string, name: string, color: boolean): string {
  if (!color) return text;
  let sum = 0;
  for (let i = 0; i < name.length; i++) sum += name.charCodeAt(i);
  return paint(text, PREFIX_COLORS[sum % PREFIX_COLORS.length]!);
}

const LEVEL_COLOR: Readonly<Record<LogLevel, number>> = { debug: 2, info: 32, warn: 33, error: 31 };

/** The word of a level, in its colour. */
export function paintLevel(level: LogLevel, color: boolean): string {
  const word = level.toUpperCase().padEnd(5);
  return color ? paint(word, LEVEL_COLOR[level]) : word;
}

/** Text that matters less. */
export function dimmed(text: string, color: boolean): string {
  return color ? paint(text, 2) : text;
}

function paint(text: string, code: number): string {
  return `\x1b[${code}m${text}\x1b[0m`;
}
