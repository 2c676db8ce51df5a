/** The horizontal time axis of charts, with pointing, clicking and dragging. */

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { range, setRange } from "../data/router.ts";
import { clock } from "../data/store.ts";
import { between, endsOf } from "../data/time_range.ts";
import { clockTime, dateTime } from "../data/format.ts";

/** The moment below the pointer, shared by all charts; 0 for none. */
export const pointed = signal(0);
/** Both ends of the current drag. */
const dragged = signal<readonly [number, number] | undefined>(undefined);

const TICKS = 4;
const DAY_MS = 86_400_000;
/** Movement up to this distance is a click, not a drag. */
const CLICK_PX = 5;
const LEAST_MS = 2000;

/** The current range, mapped to the width of a chart. */
interface TimeAxis {
  /** The element that sets the width. */
  readonly frame: { readonly current: HTMLDivElement | null };
  readonly width: number;
  readonly from: number;
  readonly to: number;
  /** The x coordinate of a moment. */
  readonly x: (moment: number) => number;
}

/** The time axis of a chart as wide as its frame. */
export function useTimeAxis(): TimeAxis {
  const frame = useRef<HTMLDivElement>(null);
  const width = useSignal<number>(400);
  useEffect(() => {
    const resized = new ResizeObserver(([entry]) => width.value = entry!.contentRect.width || 400);
    resized.observe(frame.current!);
    return () => resized.disconnect();
  }, []);
  const [from, to] = endsOf(range.value, clock.value);
  const x = (moment: number) => (moment - from) / (to - from) * width.value;
  return { frame, width: width.value, from, to, x };
}

/** Event handlers of an SVG: a click picks a moment, a drag zooms in. */
export function axisHandlers(
  { width, from, to }: TimeAxis,
  onPick: (at: number, pixelMs: number) => void,
) {
  const began = useRef<{ readonly x: number; readonly at: number } | undefined>(undefined);
  const atOf = ({ clientX, currentTarget }: PointerEvent) => {
    const { left } = (currentTarget as Element).getBoundingClientRect();
    return from + Math.min(1, Math.max(0, (clientX - left) / width)) * (to - from);
  };
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      began.current = { x: event.clientX, at: atOf(event) };
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent) {
      pointed.value = atOf(event);
      const { x, at } = began.current ?? { x: event.clientX, at: 0 };
      if (Math.abs(event.clientX - x) > CLICK_PX) dragged.value = [at, pointed.value];
    },
    onPointerUp() {
      const { at } = began.current ?? { at: 0 };
      const ends = dragged.value?.toSorted((one, other) => one - other);
      began.current = dragged.value = undefined;
      if (at === 0) return;
      if (ends === undefined) return onPick(at, (to - from) / width);
      const middle = (ends[0]! + ends[1]!) / 2;
      const half = Math.max(LEAST_MS, ends[1]! - ends[0]!) / 2;
      setRange(between(middle - half, middle + half));
    },
    onPointerCancel() {
      began.current = dragged.value = undefined;
    },
    onPointerLeave() {
      pointed.value = 0;
    },
  };
}

/** The labels of the axis, the selected moment and the current drag. */
export function Axis(
  { axis: { width, from, to, x }, height }: { readonly axis: TimeAxis; readonly height: number },
) {
  const { at } = range.value;
  const drag = dragged.value?.map(x).toSorted((one, other) => one - other);
  const text = to - from > DAY_MS ? shortDate : clockTime;
  return (
    <>
      {drag && (
        <rect class="drag" x={drag[0]} width={drag[1]! - drag[0]!} y="0" height={height - 18} />
      )}
      {at > from && at < to && (
        <line class="moment" x1={x(at)} x2={x(at)} y1="4" y2={height - 18}>
          <title>{dateTime(at)}</title>
        </line>
      )}
      {Array.from({ length: TICKS }, (_, index) => (index + 0.5) / TICKS).map((part) => (
        <text key={part} class="axis" x={part * width} y={height - 4} text-anchor="middle">
          {text(from + part * (to - from))}
        </text>
      ))}
    </>
  );
}

const shortFormat = new Intl.DateTimeFormat("en-GB", {
  ...{ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
});

function shortDate(at: number): string {
  return shortFormat.format(at);
}
