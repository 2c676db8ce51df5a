/** The lines of the log pane, and what of them is shown. Pure. */

import { cleanLine } from "./text.ts";

/** A line of a log, as the daemon streams it. */
export interface LogLine {
  readonly name: string;
  readonly stream: "stdout" | "stderr";
  readonly line: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The log pane. Lines are counted on and on: the first one kept is number `base`. */
export interface LogView {
  /** Whose lines these are: see `sourceKey`. */
  readonly source: string;
  readonly base: number;
  readonly lines: readonly LogLine[];
  /** Number of the lowest line shown; null while the end is followed. */
  readonly bottom: number | null;
  /** Lines were left out, so as to keep up with what is written. */
  readonly skipped: boolean;
  readonly stderr: boolean;
  readonly wrap: boolean;
  readonly times: boolean;
  /** First column shown of lines that are not wrapped. */
  readonly left: number;
  /** What is searched for; `""` for nothing. */
  readonly search: string;
  /** Number of the line that was found last. */
  readonly hit: number | null;
}

/** Lines kept. */
export const MAX_LINES = 5000;

/** Before anything is followed. */
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

/** The pane with more lines at its end; what is looked at stays where it is. */
export function append(view: LogView, lines: readonly LogLine[]): LogView {
  const all = [...view.lines, ...lines];
  const gone = Math.max(0, all.length - MAX_LINES);
  const base = view.base + gone;
  const bottom = view.bottom === null ? null : Math.max(view.bottom, base);
  return { ...view, lines: gone > 0 ? all.slice(gone) : all, base, bottom };
}

/** The pane without lines: they come again. */
export function emptied(view: LogView, source: string): LogView {
  return { ...view, source, base: 0, lines: [], bottom: null, skipped: false, hit: null };
}

/** Number of the lowest line shown, -1 when there is none. */
export function bottomOf({ base, lines, bottom }: LogView): number {
  return bottom ?? base + lines.length - 1;
}

/** The pane with its lowest line moved; whoever goes down to the end follows it. */
export function scrolled(view: LogView, by: number, height: number): LogView {
  const last = view.base + view.lines.length - 1;
  const bottom = inRange(view, bottomOf(view) + by, height);
  return { ...view, bottom: bottom === last && by > 0 ? null : bottom, hit: null };
}

/** The nearest line that can be the lowest one while `height` lines are on the screen. */
export function inRange({ base, lines }: LogView, bottom: number, height: number): number {
  const last = base + lines.length - 1;
  return Math.min(last, Math.max(bottom, base + height - 1));
}

/**
 * The pane at the nearest match in a direction, around the ends: from the match before, else from the
 * lowest line shown, which counts if `inclusive`. Undefined where nothing matches.
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
    // It is shown in the middle, so that what came before and after it is seen.
    const bottom = inRange(view, base + index + Math.floor(height / 2), height);
    return { ...view, bottom, hit: base + index };
  }
  return undefined;
}

/** Where a text has what is searched for: case counts only when it is asked for with a capital. */
export function matcher(search: string): (text: string) => { from: number; to: number }[] {
  if (search === "") return () => [];
  const fold = search.toLowerCase() === search;
  return (text) => {
    const spans: { from: number; to: number }[] = [];
    // Some letters change their length with their case: then it is looked for as it is.
    const folded = text.toLowerCase();
    const where = fold && folded.length === text.length ? folded : text;
    for (let at = where.indexOf(search); at >= 0; at = where.indexOf(search, at + search.length)) {
      spans.push({ from: at, to: at + search.length });
    }
    return spans;
  };
}

/** What a log pane of these apps is known by. */
export function sourceKey(names: readonly string[], stderr: boolean): string {
  return names.length === 0 ? "" : `${stderr ? "err" : "all"} ${names.join(" ")}`;
}
