/** The lines of a log. Only visible ones are rendered. */

import type { ReadonlySignal, Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { markOf } from "../../../../model/log_level.ts";
import { rowsInView, type View } from "../controls/row_layout.ts";
import { useView } from "../controls/windowed.ts";
import type { LogBuffer } from "./log_buffer.ts";
import { type LineLook, type LogRow, ROW_PX, RowHeights, shownLine, textOf } from "./log_lines.ts";
import { isPhone, isRaw, logSize, timeLook, wrap } from "../shell/settings.ts";
import { range } from "../data/router.ts";
import { clock } from "../data/store.ts";
import type { Run } from "./ansi.ts";
import { colorOf } from "../host/chart.tsx";
import { counted, dateTime, exactTime, relative } from "../data/format.ts";

export interface LogListProps {
  readonly buffer: LogBuffer;
  readonly pattern: RegExp | undefined;
  /** True to keep the newest line in view. */
  readonly follow: Signal<boolean>;
  readonly showName: boolean;
  readonly hueOf: (name: string) => number;
  readonly onOpen: (index: number) => void;
  /** Called near an end of the lines: there may be more. */
  readonly onEdge: (edge: "top" | "bottom") => void;
}

/** Width of the time and its margin, in characters. */
const TIME_COLUMNS = 14;
const NAME_COLUMNS = { wide: 15, phone: 10 };
const MARK_COLUMNS = 3;
const PADDING_PX = 32;

export function LogList(props: LogListProps) {
  const { buffer, follow, pattern, showName, hueOf, onOpen, onEdge } = props;
  const { cursor } = buffer;
  const isWrapped = wrap.value;
  const showTime = timeLook.value !== "none";
  const now = timeLook.value === "ago" ? clock.value : 0;
  const version = buffer.version.value;
  const frame = useRef<HTMLDivElement>(null);
  /** The end of the lines to which the view was scrolled last. */
  const end = useRef(0);
  const view = useFollowingView(frame, follow, end, onEdge);
  /** Number of lines received until the view stopped following. */
  const seen = useRef(0);
  const columns = isWrapped ? columnsFor(view.value.width, showTime, showName) : 0;
  const look = useMemo<LineLook>(() => ({ isTimed: showTime, isRaw: isRaw.value }), [
    showTime,
    isRaw.value,
  ]);
  const heights = useMemo(() => new RowHeights(columns, look), [columns, look, buffer]);
  const cut = heights.update(buffer.shown, buffer.dropped);
  const received = buffer.dropped + buffer.shown.length;
  const total = heights.height;

  useLayoutEffect(() => {
    const element = frame.current!;
    if (follow.value) {
      element.scrollTop = element.scrollHeight;
      end.current = element.scrollTop;
      seen.current = received;
    } else if (cut !== 0) element.scrollTop -= cut;
  }, [version, follow.value, total]);

  // Its position also changes when the oldest lines are dropped, which must not scroll to it.
  const selected = buffer.shown[cursor.value]?.seq;
  useLayoutEffect(() => {
    const element = frame.current!;
    if (selected === undefined) return;
    const top = heights.top(cursor.value);
    const { scrollTop, clientHeight } = element;
    if (top < scrollTop || top > scrollTop + clientHeight - 2 * ROW_PX) {
      element.scrollTop = top - clientHeight / 3;
    }
  }, [selected, heights]);

  const [first, last] = rowsInView(heights, view.value);
  const news = follow.value ? 0 : received - seen.current;
  return (
    <div class="log-area">
      <div
        ref={frame}
        class={`log-list${isWrapped ? " wrapped" : ""}`}
        role="log"
        aria-live="off"
        aria-label="Log lines"
        tabIndex={0}
      >
        <div class="log-space" style={{ height: `${total}px` }}>
          {buffer.shown.slice(first, last).map((line, offset) => {
            const index = first + offset;
            return (
              <LogRow
                key={line.seq}
                line={line}
                look={look}
                top={heights.top(index)}
                pattern={pattern}
                isCursor={index === cursor.value}
                isMatch={isIn(buffer.matches, index)}
                showName={showName}
                time={now > 0 ? relative(line.at, now) : showTime ? exactTime(line.at) : ""}
                hue={hueOf(line.name)}
                onClick={() => onOpen(index)}
              />
            );
          })}
        </div>
      </div>
      {!follow.value && range.value.span !== undefined && (
        <button
          type="button"
          class="pill"
          onClick={() => follow.value = true}
        >
          {news > 0 ? `${counted(news, "new line")} ↓` : "Follow ↓"}
        </button>
      )}
    </div>
  );
}

const charWidths = new Map<string, number>();

function columnsFor(width: number, showTime: boolean, showName: boolean): number {
  const charWidth = charWidths.get(logSize.value) ?? measured();
  charWidths.set(logSize.value, charWidth);
  const gutter = (showTime ? TIME_COLUMNS : 0) +
    (showName ? NAME_COLUMNS[isPhone.value ? "phone" : "wide"] : 0) + MARK_COLUMNS;
  const columns = Math.floor((width - (isPhone.value ? 16 : PADDING_PX)) / charWidth) - gutter;
  return Math.max(10, columns);
}

function measured(): number {
  const context = document.createElement("canvas").getContext("2d")!;
  const style = getComputedStyle(document.documentElement);
  context.font = `${style.getPropertyValue("--log-size")} ${style.getPropertyValue("--mono")}`;
  return context.measureText("0".repeat(100)).width / 100;
}

/** True if a sorted list contains a number. */
function isIn(sorted: readonly number[], wanted: number): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted;
}

interface LogRowProps {
  readonly line: LogRow;
  readonly look: LineLook;
  /** Pixels from the top of the list. */
  readonly top: number;
  readonly pattern: RegExp | undefined;
  readonly isCursor: boolean;
  readonly isMatch: boolean;
  readonly showName: boolean;
  /** Formatted time; empty to hide it. */
  readonly time: string;
  /** Index of the app's colour. */
  readonly hue: number;
  readonly onClick: () => void;
}

function LogRow(props: LogRowProps) {
  const { line, look, top, pattern, isCursor, isMatch, showName, time, hue, onClick } = props;
  const { runs, level, trace } = shownLine(line, look);
  const plain = textOf(runs);
  const classes = [
    "log-row",
    `level-${level ?? "none"}`,
    isCursor ? "is-cursor" : "",
    isMatch ? "is-match" : "",
  ];
  return (
    <div class={classes.join(" ")} style={{ transform: `translateY(${top}px)` }} onClick={onClick}>
      {time !== "" && <span class="log-time" title={dateTime(line.at)}>{time}</span>}
      {showName && (
        <span class="log-name" style={{ color: colorOf(hue) }} title={line.name}>{line.name}</span>
      )}
      <span class="log-mark" title={line.stream}>
        {markOf(level, line.stream)}
        {trace.length > 0 && (
          <b title={`${counted(trace.length, "more line")}: a click unfolds`}>▸</b>
        )}
      </span>
      <span class="log-text">
        {marked(runs, plain, pattern).map(({ text, look, hit }, index) =>
          hit
            ? <mark key={index} class={look}>{text}</mark>
            : look === ""
            ? text
            : <span key={index} class={look} style={colorsOf(look)}>{text}</span>
        )}
      </span>
    </div>
  );
}

const COLOR_CLASS = /\b(fg|bg)-(\d+)/g;

/** The colours for classes such as `fg-1` and `bg-12`. Bright colours look like the others. */
function colorsOf(look: string): { readonly color?: string; readonly background?: string } {
  const colors: { fg?: string; bg?: string } = {};
  for (const [, ground, number] of look.matchAll(COLOR_CLASS)) {
    colors[ground as "fg" | "bg"] = `var(--${ground}-${Number(number) % 8})`;
  }
  return { color: colors.fg ?? "", background: colors.bg ?? "" };
}

interface MarkedRun extends Run {
  readonly hit: boolean;
}

/** Splits runs at the ends of matches. */
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

const TOUCHES = ["wheel", "touchmove", "pointerdown", "pointerup", "keydown"];
const SCROLL_KEYS = ["End", "PageDown", "ArrowDown", " "];
/** Scrolling continues for a while after the touch that started it. */
const INTENT_MS = 1000;
/** More lines are read this close to an end of the view, in pixels. */
const EDGE_PX = 600;

/** The visible part. Scrolling up stops following, scrolling to the end resumes it. */
function useFollowingView(
  frame: { readonly current: HTMLDivElement | null },
  follow: Signal<boolean>,
  end: { readonly current: number },
  onEdge: LogListProps["onEdge"],
): ReadonlySignal<View> {
  const edge = useRef(onEdge);
  edge.current = onEdge;
  const before = useRef(0);
  const touchedAt = useRef(-Infinity);
  useEffect(() => {
    const element = frame.current!;
    before.current = element.scrollTop;
    const touched = (event: Event) => {
      // Ignore clicks on lines; a click on the scroll bar targets the element itself.
      if (event instanceof PointerEvent && event.target !== element) return;
      if (event instanceof WheelEvent && event.deltaY <= 0) return;
      if (event instanceof KeyboardEvent && !SCROLL_KEYS.includes(event.key)) return;
      touchedAt.current = performance.now();
    };
    for (const type of TOUCHES) element.addEventListener(type, touched, { passive: true });
    return () => {
      for (const type of TOUCHES) element.removeEventListener(type, touched);
    };
  }, []);
  // The page also scrolls by itself, which must not resume following.
  const isMeant = () => performance.now() - touchedAt.current < INTENT_MS;
  return useView(frame, {
    scrolled({ scrollTop, clientHeight, scrollHeight }) {
      const [last, atEnd] = [before.current, scrollTop + clientHeight >= scrollHeight - 2];
      // Dropping the oldest lines moves the end up, and new ones may have come before this event.
      if (scrollTop < last - 2 && !atEnd && scrollTop !== end.current) follow.value = false;
      if (scrollTop < last && scrollTop < EDGE_PX) edge.current("top");
      if (scrollTop > last && scrollHeight - scrollTop - clientHeight < EDGE_PX) {
        edge.current("bottom");
      } else if (atEnd && scrollTop > last && isMeant() && range.value.span) follow.value = true;
      before.current = scrollTop;
    },
    resized(element) {
      if (follow.value) element.scrollTop = element.scrollHeight;
    },
  });
}
