/** A chart of a figure over time, with marks for events, and the time axis of every chart. */

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { logLink, range, setRange } from "../data/router.ts";
import { clock } from "../data/store.ts";
import { between, endsOf, lookingAt } from "../data/time_range.ts";
import type { EventJson, Series } from "../data/past.ts";
import type { Figure, Sample } from "../process/history.ts";
import { clockTime, dateTime } from "../data/format.ts";
import { apart, AXIS_HEIGHT, type Mark, ticksIn, tickText } from "./time_axis.ts";

interface ChartProps {
  readonly title: string;
  /** They share one scale. */
  readonly lines: readonly Series[];
  readonly of: Figure;
  readonly format: (value: number) => string;
  /** Minimum value at the top of the chart. */
  readonly most: number;
  readonly marks?: readonly Mark[];
  /** A click opens the log of this app; default: of all apps. */
  readonly name?: string | undefined;
}

const HEIGHT = 120;
/** Height of the labels of the axis. */
const FOOT = AXIS_HEIGHT;
/** Distance of a mark from the labels below. */
const MARK_PX = 5;
const MARK_WIDTH = 10;
/** Number of colours of apps and processes, as in colors.css. */
export const HUES = 8;

export function colorOf(index: number): string {
  return `var(--hue-${index % HUES})`;
}

/** A click within this distance selects a mark. */
const NEAR_PX = 6;

/** The chart, with a summary in words. A click opens the log of that moment. */
export function Chart({ title, lines, of, format, most, marks = [], name }: ChartProps) {
  const value = (sample: Sample) => sample[of] ?? 0;
  const axis = useTimeAxis();
  const { width, from, to, x } = axis;
  const moment = pointed.value || range.value.at;
  const drawn = lines.map((series, index) => {
    const samples = series.samples.filter((one) => one.at >= from && one[of] !== undefined);
    const near = moment === 0 ? undefined : nearest(samples, moment, series.step * 2);
    const color = lines.length === 1 ? undefined : colorOf(index);
    return { ...series, samples, near, color, now: near ?? (moment ? undefined : samples.at(-1)) };
  });
  const near = drawn.find(({ near }) => near !== undefined)?.near;
  const top = Math.max(most, ...drawn.flatMap(({ samples }) => samples.map(value))) * 1.08 || 1;
  const y = (figure: number) => FOOT + (1 - figure / top) * (HEIGHT - 2 * FOOT);
  const base = HEIGHT - FOOT;
  const point = (one: Sample) => `${x(one.at).toFixed(1)} ${y(value(one)).toFixed(1)}`;
  const shown = marks.filter((mark) => mark.at > from && mark.at <= to);
  const pick = (at: number, pixelMs: number) => {
    const moment = nearest(shown, at, NEAR_PX * pixelMs)?.at ?? at;
    location.hash = logLink(name, lookingAt(moment, range.value));
  };
  return (
    <figure class="chart">
      <figcaption class="row between wrap">
        <span>{title}</span>
        <span class="row wrap">
          {near && <span class="faint small">{clockTime(near.at)}</span>}
          {drawn.map(({ name, color, now }) => (
            <span key={name} style={{ color }}>
              {color && `${name} `}
              <strong class="number">{now ? format(value(now)) : "–"}</strong>
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={axis.frame}>
        <svg
          class="timed"
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={drawn.map(({ name, color, samples }) =>
            summary(color ? `${title}, ${name}` : title, samples.map(value), format)
          ).join("; ")}
          {...axisHandlers(axis, pick)}
        >
          <line class="grid" x1="0" x2={width} y1={base} y2={base} />
          <line class="grid" x1="0" x2={width} y1={y(top / 1.08)} y2={y(top / 1.08)} />
          <text class="axis" x="0" y={y(top / 1.08) - 5}>{format(top / 1.08)}</text>
          {drawn.map(({ name, color, samples, step }) => {
            const pieces = piecesOf(samples, step).map((piece) => ({
              line: `M${piece.map(point).join("L")}`,
              foot: `L${x(piece.at(-1)!.at)} ${base}L${x(piece[0]!.at)} ${base}Z`,
            }));
            const area = pieces.map(({ line, foot }) => line + foot).join("");
            return (
              <g key={name} style={{ "--line-color": color }}>
                {!color && <path class="area" d={area} />}
                <path class="line" d={pieces.map(({ line }) => line).join("")} />
              </g>
            );
          })}
          {apart(shown, (to - from) / width * MARK_WIDTH).map((mark) => (
            <g key={`${mark.kind} ${mark.at} ${mark.text}`} class={`mark is-${mark.kind}`}>
              <line x1={x(mark.at)} x2={x(mark.at)} y1={FOOT} y2={base} />
              <path
                d={MARK_SHAPES[mark.kind]}
                transform={`translate(${x(mark.at)} ${base - MARK_PX})`}
              />
              <title>{`${mark.text}, ${clockTime(mark.at)}: a click opens the log`}</title>
            </g>
          ))}
          {near && <line class="cursor" x1={x(near.at)} x2={x(near.at)} y1={FOOT} y2={base} />}
          <Axis axis={axis} height={HEIGHT} />
        </svg>
      </div>
    </figure>
  );
}

export function marksOf(events: readonly EventJson[]): readonly Mark[] {
  return events.map(({ type, at, name, reason }) => ({
    at: Date.parse(at),
    kind: FAILURES.has(type) ? "failure" : ENDS.has(type) ? "end" : "start",
    text: `${name} ${type}${reason && `, ${reason}`}`,
  }));
}

const FAILURES: ReadonlySet<EventJson["type"]> = new Set(["crashed", "errored", "unhealthy"]);
const ENDS: ReadonlySet<EventJson["type"]> = new Set(["stopped", "deleted"]);

const MARK_SHAPES = { start: "M0-7L5 1H-5Z", end: "M-4-4H4V4H-4Z", failure: "M-4-4L4 4M4-4L-4 4" };

function piecesOf(samples: readonly Sample[], step: number): Sample[][] {
  const pieces: Sample[][] = [];
  for (const sample of samples) {
    const piece = pieces.at(-1);
    if (piece !== undefined && sample.at - piece.at(-1)!.at <= 2.5 * step) piece.push(sample);
    else pieces.push([sample]);
  }
  return pieces;
}

/** The item nearest to a moment; undefined if none is within `most` milliseconds. */
function nearest<T extends { readonly at: number }>(
  all: readonly T[],
  moment: number,
  most: number,
): T | undefined {
  const distance = (one: T) => Math.abs(one.at - moment);
  const near = all.reduce<T | undefined>(
    (best, one) => best === undefined || distance(one) < distance(best) ? one : best,
    undefined,
  );
  return near !== undefined && distance(near) <= most ? near : undefined;
}

function summary(
  title: string,
  values: readonly number[],
  format: (value: number) => string,
): string {
  if (values.length === 0) return `${title}: no readings in this time`;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return `${title}: last ${format(values.at(-1)!)}, lowest ${format(Math.min(...values))}, ` +
    `mean ${format(mean)}, highest ${format(Math.max(...values))}`;
}

/** The moment below the pointer, shared by all charts; 0 for none. */
const pointed = signal(0);
/** Both ends of the current drag. */
const dragged = signal<readonly [number, number] | undefined>(undefined);

/** Width of a label, with the space around it. */
const TICK_PX = 90;
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
  onPick: (at: number, pixelMs: number, y: number) => void,
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
    onPointerUp({ clientY, currentTarget }: PointerEvent) {
      const { at } = began.current ?? { at: 0 };
      const ends = dragged.value?.toSorted((one, other) => one - other);
      began.current = dragged.value = undefined;
      if (at === 0) return;
      if (ends === undefined) {
        const { top } = (currentTarget as Element).getBoundingClientRect();
        return onPick(at, (to - from) / width, clientY - top);
      }
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
  const text = tickText(to - from);
  return (
    <>
      {drag && (
        <rect class="drag" x={drag[0]} width={drag[1]! - drag[0]!} y="0" height={height - FOOT} />
      )}
      {at > from && at < to && (
        <line class="moment" x1={x(at)} x2={x(at)} y1="4" y2={height - FOOT}>
          <title>{dateTime(at)}</title>
        </line>
      )}
      {ticksIn(from, to, width / TICK_PX).map((tick) => (
        <text key={tick} class="axis" x={x(tick)} y={height - 4} text-anchor="middle">
          {text(tick)}
        </text>
      ))}
    </>
  );
}
