/** One line of a log. What an app wrote becomes text nodes, whatever it is. */

import type { LogLine } from "../data/log_buffer.ts";
import { ansiRuns, type Run } from "../text/ansi.ts";
import { levelOf } from "../text/log_line.ts";
import { dateTime } from "../text/format.ts";

/** How a line is drawn. */
export interface LogRowProps {
  readonly line: LogLine;
  /** Pixels from the top of the list. */
  readonly top: number;
  readonly pattern: RegExp | undefined;
  readonly isCursor: boolean;
  readonly isMatch: boolean;
  readonly showName: boolean;
  /** As it is written; empty when it is not. */
  readonly time: string;
  /** Which of the colours for names is this app's. */
  readonly hue: number;
  readonly onClick: () => void;
}

/** A line may be megabytes long; so much of it is drawn. */
const MAX_DRAWN = 10_000;

/** The line. */
export function LogRow(props: LogRowProps) {
  const { line, top, pattern, isCursor, isMatch, showName, time, hue, onClick } = props;
  const drawn = line.text.length > MAX_DRAWN ? `${line.text.slice(0, MAX_DRAWN)} …` : line.text;
  const runs = ansiRuns(drawn);
  const plain = runs.map(({ text }) => text).join("");
  const look = [
    "log-row",
    line.stream === "stderr" ? "is-stderr" : "",
    `level-${levelOf(plain) ?? "none"}`,
    isCursor ? "is-cursor" : "",
    isMatch ? "is-match" : "",
  ];
  return (
    <div class={look.join(" ")} style={{ transform: `translateY(${top}px)` }} onClick={onClick}>
      {time !== "" && <span class="log-time" title={dateTime(line.at)}>{time}</span>}
      {showName && <span class={`log-name hue-${hue}`} title={line.name}>{line.name}</span>}
      <span class="log-mark" title={line.stream}>{line.stream === "stderr" ? "!" : " "}</span>
      <span class="log-text">
        {marked(runs, plain, pattern).map(({ text, look, hit }, index) =>
          hit
            ? <mark key={index} class={look}>{text}</mark>
            : look === ""
            ? text
            : <span key={index} class={look}>{text}</span>
        )}
      </span>
    </div>
  );
}

interface MarkedRun extends Run {
  readonly hit: boolean;
}

/** Runs parted again where a match begins or ends. */
function marked(runs: readonly Run[], plain: string, pattern: RegExp | undefined): MarkedRun[] {
  const hits = pattern === undefined ? [] : hitsIn(plain, pattern);
  if (hits.length === 0) return runs.map((run) => ({ ...run, hit: false }));
  const parts: MarkedRun[] = [];
  let start = 0;
  for (const { text, look } of runs) {
    const end = start + text.length;
    let at = start;
    for (const [from, to] of hits) {
      if (to <= at || from >= end) continue;
      if (from > at) parts.push({ text: plain.slice(at, from), look, hit: false });
      parts.push({ text: plain.slice(Math.max(at, from), Math.min(to, end)), look, hit: true });
      at = Math.min(to, end);
    }
    if (at < end) parts.push({ text: plain.slice(at, end), look, hit: false });
    start = end;
  }
  return parts;
}

const MAX_HITS = 200;

function hitsIn(text: string, pattern: RegExp): [number, number][] {
  const hits: [number, number][] = [];
  for (const match of text.matchAll(pattern)) {
    if (match[0] !== "") hits.push([match.index, match.index + match[0].length]);
    if (hits.length >= MAX_HITS) break;
  }
  return hits;
}
