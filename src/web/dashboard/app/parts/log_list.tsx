/** The lines of a log, of which only those in sight are drawn. */

import { type Signal, useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { LogBuffer } from "../data/log_buffer.ts";
import { isPhone } from "../data/media.ts";
import { logSize, timeLook, wrap } from "../data/log_looks.ts";
import { clock } from "../data/store.ts";
import { counted, exactTime, relative } from "../text/format.ts";
import { LogRow } from "./log_row.tsx";
import { ROW_PX, RowHeights } from "./row_heights.ts";
import { useView } from "./use_view.ts";

/** How the list is drawn. */
export interface LogListProps {
  readonly buffer: LogBuffer;
  readonly pattern: RegExp | undefined;
  /** Whether the newest line stays in sight. */
  readonly follow: Signal<boolean>;
  /** Position of the line that keys act on; -1 for none. */
  readonly cursor: Signal<number>;
  readonly showName: boolean;
  readonly hueOf: (name: string) => number;
  readonly onOpen: (index: number) => void;
}

const OVERSCAN = 10;
/** Characters of the time and of the margin beside it. */
const TIME_COLUMNS = 14;
const NAME_COLUMNS = { wide: 15, phone: 10 };
const MARK_COLUMNS = 2;
const PADDING_PX = 32;

/** The list. */
export function LogList(props: LogListProps) {
  const { buffer, follow, cursor, pattern, showName, hueOf, onOpen } = props;
  const isWrapped = wrap.value;
  const showTime = timeLook.value !== "none";
  const now = timeLook.value === "ago" ? clock.value : 0;
  const version = buffer.version.value;
  const frame = useRef<HTMLDivElement>(null);
  const view = useSignal({ top: 0, height: 600, width: 800 });
  const seen = useRef({ length: 0, dropped: 0 });
  const columns = isWrapped ? columnsFor(view.value.width, showTime, showName) : 0;
  const heights = useMemo(() => new RowHeights(columns), [columns, buffer]);
  heights.update(buffer.shown, buffer.dropped);
  useView(frame, view, follow);
  const total = heights.height;

  useLayoutEffect(() => {
    const element = frame.current!;
    if (follow.value) element.scrollTop = element.scrollHeight;
    else if (buffer.dropped > seen.current.dropped) {
      element.scrollTop -= (buffer.dropped - seen.current.dropped) * ROW_PX;
    }
    seen.current.dropped = buffer.dropped;
    if (follow.value) seen.current.length = buffer.dropped + buffer.shown.length;
  }, [version, follow.value, total]);

  useLayoutEffect(() => {
    const element = frame.current!;
    if (cursor.value < 0) return;
    const top = heights.top(cursor.value);
    const { scrollTop, clientHeight } = element;
    if (top < scrollTop || top > scrollTop + clientHeight - 2 * ROW_PX) {
      element.scrollTop = top - clientHeight / 3;
    }
  }, [cursor.value, heights]);

  const first = Math.max(0, heights.at(view.value.top) - OVERSCAN);
  const last = Math.min(
    buffer.shown.length,
    heights.at(view.value.top + view.value.height) + OVERSCAN,
  );
  const news = follow.value ? 0 : buffer.dropped + buffer.shown.length - seen.current.length;
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
      {!follow.value && (
        <button type="button" class="pill" onClick={() => follow.value = true}>
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

/** Whether a sorted list holds a number. */
function isIn(sorted: readonly number[], wanted: number): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted;
}
