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

/** Of names: without red, which is for what went wrong. */
const NAME_COLORS = [36, 35, 34, 33, 32, 96, 95, 94, 93, 92, "38;5;208", "38;5;141"];

/** Which name has which colour. */
const taken = new Map<string, number>();

/** A text that holds the word of a state, in its colour. */
export function paintState(text: string, state: ProcessState, color: boolean): string {
  return color ? paint(text, STATE_COLOR[state] ?? 0) : text;
}

/** A name before a line: the first 12 each in a colour of their own, which is mostly the same next time. */
export function paintName(text: string, name: string, color: boolean): string {
  return color ? paint(text, NAME_COLORS[colorOf(name)]!) : text;
}

function colorOf(name: string): number {
  const known = taken.get(name);
  if (known !== undefined) return known;
  const count = NAME_COLORS.length;
  const isFull = taken.size >= count;
  let at = [...name].reduce((sum, char) => sum + char.codePointAt(0)!, 0) % count;
  while (!isFull && [...taken.values()].includes(at)) at = (at + 1) % count;
  taken.set(name, at);
  return at;
}

/** What went wrong, or came on standard error. */
export function alarming(text: string, color: boolean): string {
  return color ? paint(text, 31) : text;
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

function paint(text: string, code: number | string): string {
  return `\x1b[${code}m${text}\x1b[0m`;
}
