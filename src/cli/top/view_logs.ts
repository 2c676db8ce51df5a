/** The log pane. Pure. */

import { paintName } from "../paint.ts";
import { textWidth } from "../text_width.ts";
import { bottomOf, type LogLine, matcher } from "./log_view.ts";
import type { TopState } from "./state.ts";
import type { Style } from "./style.ts";
import { cleanColors, cleanLine, cut, wrap } from "./text.ts";
import { wantedLogs } from "./wanted.ts";

/** What the title says: whose logs, and how they are looked at. */
export function logTitle(state: TopState): string[] {
  const { log } = state;
  const names = wantedLogs(state)?.names ?? [];
  const whose = names.length > 3 ? `${names.length} apps` : names.join(", ");
  const below = log.base + log.lines.length - 1 - bottomOf(log);
  return [
    `logs ${whose}`.trim(),
    log.stderr ? "stderr only" : "",
    log.bottom === null ? "following" : `paused, ${below} below: f follows`,
    log.search === "" ? "" : `search "${cleanLine(log.search)}"`,
    log.skipped ? "lines left out to keep up" : "",
  ];
}

/** The lines that end with the lowest one shown. */
export function logLines(state: TopState, height: number, style: Style): string[] {
  const { log } = state;
  if (log.lines.length === 0) return [style.dim(cut("  nothing was written yet", state.columns))];
  const several = (wantedLogs(state)?.names.length ?? 0) > 1;
  const shown: string[] = [];
  for (let at = bottomOf(log) - log.base; at >= 0 && shown.length < height; at--) {
    const parts = lineParts(log.lines[at]!, {
      state,
      style,
      several,
      hit: log.base + at === log.hit,
    });
    shown.unshift(...parts);
  }
  return shown.slice(-height);
}

interface LineOptions {
  readonly state: TopState;
  readonly style: Style;
  /** Lines of several apps: each says whose it is. */
  readonly several: boolean;
  /** The line that was found last. */
  readonly hit: boolean;
}

/** One line of a log, in one line of the screen or several. */
function lineParts(line: LogLine, options: LineOptions): string[] {
  const { columns, log } = options.state;
  const prefix = prefixOf(line, options);
  const width = Math.max(1, columns - textWidth(prefix));
  const body = bodyOf(line.line, options);
  if (!log.wrap) return [cut(prefix + cut(body, width, log.left), columns)];
  const blank = " ".repeat(columns - width);
  return wrap(body, width).map((part, index) =>
    cut((index === 0 ? prefix : blank) + part, columns)
  );
}

/** Standard error is told by a mark, and not by its colour alone. */
function prefixOf({ name, stream, at }: LogLine, { state, style, several, hit }: LineOptions) {
  const err = stream === "stderr" && !state.log.stderr;
  const mark = hit ? style.bold("▸ ") : err ? style.bad("! ") : "  ";
  const time = state.log.times ? style.dim(`${clock(at)} `) : "";
  return mark + time + (several ? `${paintName(cleanLine(name), name, style.color)} | ` : "");
}

function clock(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "--:--:--.---";
  const two = (value: number) => String(value).padStart(2, "0");
  const ms = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
}

/** The text with its colours, or with what is searched for marked in it. */
function bodyOf(line: string, { state: { log }, style }: LineOptions): string {
  const plain = cleanLine(line);
  const spans = matcher(log.search)(plain);
  if (spans.length === 0) return style.color ? cleanColors(line) : plain;
  let text = "";
  let end = 0;
  for (const { from, to } of spans) {
    text += plain.slice(end, from) + style.match(plain.slice(from, to));
    end = to;
  }
  return text + plain.slice(end);
}
