/** Colours of states, names and log levels, and the other styles of text. */

import type { LogLevel } from "../model/log_line.ts";
import type { Condition } from "../model/process_info.ts";

const STATE_COLOR: Readonly<Record<Condition | "healthy", number>> = {
  starting: 33,
  running: 32,
  healthy: 32,
  unhealthy: 31,
  stopping: 33,
  stopped: 2,
  crashed: 31,
  errored: 31,
  waiting: 33,
};

/** Colours of names, without red, which marks failures. */
const NAME_COLORS = [36, 35, 34, 33, 32, 96, 95, 94, 93, 92, "38;5;208", "38;5;141"];

/** Name → index of its colour. */
const taken = new Map<string, number>();

/** Paints a word for a state or for the health; others stay as they are. */
export function paintState(text: string, state: string, color: boolean): string {
  return Object.hasOwn(STATE_COLOR, state)
    ? paint(text, STATE_COLOR[state as Condition], color)
    : text;
}

/** Paints a name. The first 12 names get different colours, mostly the same in each run. */
export function paintName(text: string, name: string, color: boolean): string {
  return color ? paint(text, NAME_COLORS[colorOf(name)]!, color) : text;
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

const LEVEL_COLOR: Readonly<Record<LogLevel, number>> = { debug: 2, info: 32, warn: 33, error: 31 };

/** The level, padded and in its colour. */
export function paintLevel(level: LogLevel, color: boolean): string {
  return paint(level.toUpperCase().padEnd(5), LEVEL_COLOR[level], color);
}

/** Functions that style a text and reset the style after it. */
export type Style = ReturnType<typeof styleOf>;

/** The styles, with or without colours. */
export function styleOf(color: boolean) {
  const styled = (code: number) => (text: string) => paint(text, code, color);
  const reverse = (text: string) => paint(text, 7, true);
  return {
    color,
    bold: styled(1),
    /** Text that matters less. */
    dim: styled(2),
    good: styled(32),
    /** Failures, and the mark of stderr. */
    bad: styled(31),
    /** The row under the cursor; must hold no colours. */
    cursor: reverse,
    match: reverse,
  };
}

function paint(text: string, code: number | string, color: boolean): string {
  return color && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text;
}
