/** The lines of the log pane, and which of them are visible. Pure. */

import type { LogLine } from "../../model/log_line.ts";
import { cleanLine } from "./text.ts";

/** The log pane. Line numbers keep increasing; the oldest line kept is number `base`. */
export interface LogView {
  /** Apps the lines belong to, see `sourceKey`. */
  readonly source: string;
  readonly base: number;
  readonly lines: readonly LogLine[];
  /** Number of the bottom line; null while following the end. */
  readonly bottom: number | null;
  /** Lines were skipped to keep up. */
  readonly skipped: boolean;
  readonly stderr: boolean;
  readonly wrap: boolean;
  readonly times: boolean;
  /** First visible column of unwrapped lines. */
  readonly left: number;
  /** Search text; empty for none. */
  readonly search: string;
  /** Line number of the last match. */
  readonly hit: number | null;
}

/** Most lines kept. */
export const MAX_LINES = 5000;

export const EMPTY_LOG: LogView = {
  source: "",
  base: 0,
  lines: [],
  bottom: null,
  skipped: false,
  stderr: false,
  wrap: false,
  times: false,
  left: 0,
  search: "",
  hit: null,
};

/** Appends lines. The visible part stays in place. */
export function append(view: LogView, lines: readonly LogLine[]): LogView {
  const all = [...view.lines, ...lines];
  const gone = Math.max(0, all.length - MAX_LINES);
  const base = view.base + gone;
  const bottom = view.bottom === null ? null : Math.max(view.bottom, base);
  return { ...view, lines: gone > 0 ? all.slice(gone) : all, base, bottom };
}

/** Empties the pane before its lines are sent again. */
export function emptied(view: LogView, source: string): LogView {
  return { ...view, source, base: 0, lines: [], bottom: null, skipped: false, hit: null };
}

/** Number of the bottom line, -1 when empty. */
export function bottomOf({ base, lines, bottom }: LogView): number {
  return bottom ?? base + lines.length - 1;
}

/** Scrolls. Reaching the end follows it. */
export function scrolled(view: LogView, by: number, height: number): LogView {
  const last = view.base + view.lines.length - 1;
  const bottom = inRange(view, bottomOf(view) + by, height);
  return { ...view, bottom: bottom === last && by > 0 ? null : bottom, hit: null };
}

/** Limits a bottom line so that `height` lines stay filled. */
export function inRange({ base, lines }: LogView, bottom: number, height: number): number {
  const last = base + lines.length - 1;
  return Math.min(last, Math.max(bottom, base + height - 1));
}

/**
 * Moves to the next match in a direction, wrapping around: from the last match, else from the
 * bottom line, included if `inclusive`. Undefined without a match.
 */
export function found(
  view: LogView,
  step: 1 | -1,
  { height, inclusive = false }: { height: number; inclusive?: boolean },
): LogView | undefined {
  const { base, lines, search } = view;
  const matches = matcher(search);
  const from = (view.hit ?? bottomOf(view)) - base;
  for (let i = inclusive ? 0 : 1; i <= lines.length; i++) {
    const index = (((from + step * i) % lines.length) + lines.length) % lines.length;
    const { line } = lines[index] ?? { line: "" };
    if (matches(cleanLine(line)).length === 0) continue;
    // Center the match to show the lines around it.
    const bottom = inRange(view, base + index + Math.floor(height / 2), height);
    return { ...view, bottom, hit: base + index };
  }
  return undefined;
}

/** Finds matches in a text. Case-sensitive only if the search has a capital letter. */
export function matcher(search: string): (text: string) => { from: number; to: number }[] {
  if (search === "") return () => [];
  const fold = search.toLowerCase() === search;
  return (text) => {
    const spans: { from: number; to: number }[] = [];
    // Some letters change length with case: then compare exactly.
    const folded = text.toLowerCase();
    const where = fold && folded.length === text.length ? folded : text;
    for (let at = where.indexOf(search); at >= 0; at = where.indexOf(search, at + search.length)) {
      spans.push({ from: at, to: at + search.length });
    }
    return spans;
  };
}

/** Key of a selection of logs. */
export function sourceKey(names: readonly string[], stderr: boolean): string {
  return names.length === 0 ? "" : `${stderr ? "err" : "all"} ${names.join(" ")}`;
}
