/** A figure over the last minutes, with the starts and ends of the process marked. */

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Mark, Sample } from "../process/history.ts";
import { clockTime } from "../data/format.ts";

/** What it draws. */
interface ChartProps {
  readonly title: string;
  readonly samples: readonly Sample[];
  readonly value: (sample: Sample) => number;
  readonly format: (value: number) => string;
  /** Milliseconds from left to right. */
  readonly ms: number;
  /** At the top at the least. */
  readonly most: number;
  readonly marks?: readonly Mark[];
}

const HEIGHT = 120;
const FOOT = 18;
const TICKS = 4;

/** The moment below the pointer, the same on all charts; 0 for none. */
const pointed = signal(0);

/** The chart, with what it shows in words. */
export function Chart({ title, samples, value, format, ms, most, marks = [] }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useSignal(400);
  useEffect(() => {
    const resized = new ResizeObserver(([entry]) => width.value = entry!.contentRect.width || 400);
    resized.observe(frame.current!);
    return () => resized.disconnect();
  }, []);
  const end = samples.at(-1)?.at ?? Date.now();
  const values = samples.map(value);
  const top = Math.max(most, ...values) * 1.08 || 1;
  const x = (at: number) => (1 - (end - at) / ms) * width.value;
  const y = (figure: number) => FOOT + (1 - figure / top) * (HEIGHT - 2 * FOOT);
  const near = pointed.value === 0 ? undefined : nearest(samples, pointed.value);
  const now = near ?? samples.at(-1);
  const base = HEIGHT - FOOT;
  const pieces = piecesOf(samples, ms).map((piece) => ({
    line: `M${piece.map((one) => `${x(one.at).toFixed(1)} ${y(value(one)).toFixed(1)}`).join("L")}`,
    foot: `L${x(piece.at(-1)!.at)} ${base}L${x(piece[0]!.at)} ${base}Z`,
  }));
  return (
    <figure class="chart" ref={frame}>
      <figcaption class="row between">
        <span>{title}</span>
        <span>
          {near && <span class="faint small">{clockTime(near.at)}</span>}
          <strong class="number">{now ? format(value(now)) : "–"}</strong>
        </span>
      </figcaption>
      <svg
        width={width.value}
        height={HEIGHT}
        role="img"
        aria-label={summary(title, values, format)}
        onPointerMove={({ offsetX }) => pointed.value = end - (1 - offsetX / width.value) * ms}
        onPointerLeave={() => pointed.value = 0}
      >
        <line class="grid" x1="0" x2={width.value} y1={base} y2={base} />
        <line class="grid" x1="0" x2={width.value} y1={y(top / 1.08)} y2={y(top / 1.08)} />
        <text class="axis" x="0" y={y(top / 1.08) - 5}>{format(top / 1.08)}</text>
        <path class="area" d={pieces.map(({ line, foot }) => line + foot).join("")} />
        <path class="line" d={pieces.map(({ line }) => line).join("")} />
        {marks.filter(({ at }) => at > end - ms && at <= end).map((mark) => (
          <g key={`${mark.kind} ${mark.at}`} class={`mark is-${mark.kind}`}>
            <line x1={x(mark.at)} x2={x(mark.at)} y1={FOOT} y2={base} />
            <path d={MARK_SHAPES[mark.kind]} transform={`translate(${x(mark.at)} ${base})`} />
            <title>{`${mark.text}, ${clockTime(mark.at)}`}</title>
          </g>
        ))}
        {near && <line class="cursor" x1={x(near.at)} x2={x(near.at)} y1={FOOT} y2={base} />}
        {ticks(end, ms, width.value).map(([left, text]) => (
          <text key={left} class="axis" x={left} y={HEIGHT - 4} text-anchor="middle">{text}</text>
        ))}
      </svg>
    </figure>
  );
}

/** Milliseconds to draw: as many as wanted, but no more empty ones than the first minute has. */
export function fitting(samples: readonly Sample[], wanted: number): number {
  const known = samples.length === 0 ? 0 : samples.at(-1)!.at - samples[0]!.at;
  return Math.min(wanted, Math.max(60_000, known));
}

const MARK_SHAPES = { start: "M0-7L5 1H-5Z", end: "M-4-4H4V4H-4Z", failure: "M-4-4L4 4M4-4L-4 4" };

/** The stretches without a gap. A gap is longer than a few steps of any ring. */
function piecesOf(samples: readonly Sample[], ms: number): Sample[][] {
  const gap = Math.max(35_000, ms / 200);
  const pieces: Sample[][] = [];
  for (const sample of samples) {
    const piece = pieces.at(-1);
    if (piece !== undefined && sample.at - piece.at(-1)!.at <= gap) piece.push(sample);
    else pieces.push([sample]);
  }
  return pieces;
}

function nearest(samples: readonly Sample[], at: number): Sample | undefined {
  const after = samples.findIndex((sample) => sample.at >= at);
  if (after <= 0) return after === 0 ? samples[0] : samples.at(-1);
  const [a, b] = [samples[after - 1]!, samples[after]!];
  return at - a.at < b.at - at ? a : b;
}

function ticks(end: number, ms: number, width: number): [number, string][] {
  return Array.from({ length: TICKS }, (_, index) => {
    const part = (index + 0.5) / TICKS;
    return [part * width, clockTime(end - (1 - part) * ms)];
  });
}

function summary(
  title: string,
  values: readonly number[],
  format: (value: number) => string,
): string {
  if (values.length === 0) return `${title}: no readings yet`;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return `${title}: now ${format(values.at(-1)!)}, lowest ${format(Math.min(...values))}, ` +
    `mean ${format(mean)}, highest ${format(Math.max(...values))}`;
}
