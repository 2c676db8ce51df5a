/** A chart of a figure over time, with marks for events. */

import { logLink, range } from "../data/router.ts";
import { lookingAt } from "../data/time_range.ts";
import type { Series } from "../data/past.ts";
import type { EventJson } from "../data/types.ts";
import type { Figure, Sample } from "../process/history.ts";
import { clockTime } from "../data/format.ts";
import { Axis, axisHandlers, pointed, useTimeAxis } from "./time_axis.tsx";

interface ChartProps {
  readonly title: string;
  readonly series: Series;
  readonly of: Figure;
  readonly format: (value: number) => string;
  /** Minimum value at the top of the chart. */
  readonly most: number;
  readonly marks?: readonly Mark[];
  /** A click opens the log of this app; default: of all apps. */
  readonly name?: string | undefined;
}

interface Mark {
  readonly at: number;
  readonly kind: "start" | "end" | "failure";
  readonly text: string;
}

const HEIGHT = 120;
const FOOT = 18;
/** A click within this distance selects a mark. */
const NEAR_PX = 6;

/** The chart, with a summary in words. A click opens the log of that moment. */
export function Chart({ title, series, of, format, most, marks = [], name }: ChartProps) {
  const value = (sample: Sample) => sample[of];
  const axis = useTimeAxis();
  const { width, from, to, x } = axis;
  const samples = series.samples.filter((one) => one.at >= from && !Number.isNaN(value(one)));
  const values = samples.map(value);
  const top = Math.max(most, ...values) * 1.08 || 1;
  const y = (figure: number) => FOOT + (1 - figure / top) * (HEIGHT - 2 * FOOT);
  const moment = pointed.value || range.value.at;
  const near = moment === 0 ? undefined : nearest(samples, moment, series.step * 2);
  const now = near ?? (moment === 0 ? samples.at(-1) : undefined);
  const base = HEIGHT - FOOT;
  const pieces = piecesOf(samples, series.step).map((piece) => ({
    line: `M${piece.map((one) => `${x(one.at).toFixed(1)} ${y(value(one)).toFixed(1)}`).join("L")}`,
    foot: `L${x(piece.at(-1)!.at)} ${base}L${x(piece[0]!.at)} ${base}Z`,
  }));
  const shown = marks.filter((mark) => mark.at > from && mark.at <= to);
  const pick = (at: number, pixelMs: number) => {
    const moment = nearest(shown, at, NEAR_PX * pixelMs)?.at ?? at;
    location.hash = logLink(name, lookingAt(moment, range.value));
  };
  return (
    <figure class="chart">
      <figcaption class="row between">
        <span>{title}</span>
        <span>
          {near && <span class="faint small">{clockTime(near.at)}</span>}{" "}
          <strong class="number">{now ? format(value(now)) : "–"}</strong>
        </span>
      </figcaption>
      <div ref={axis.frame}>
        <svg
          class="timed"
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={summary(title, values, format)}
          {...axisHandlers(axis, pick)}
        >
          <line class="grid" x1="0" x2={width} y1={base} y2={base} />
          <line class="grid" x1="0" x2={width} y1={y(top / 1.08)} y2={y(top / 1.08)} />
          <text class="axis" x="0" y={y(top / 1.08) - 5}>{format(top / 1.08)}</text>
          <path class="area" d={pieces.map(({ line, foot }) => line + foot).join("")} />
          <path class="line" d={pieces.map(({ line }) => line).join("")} />
          {shown.map((mark) => (
            <g key={`${mark.kind} ${mark.at} ${mark.text}`} class={`mark is-${mark.kind}`}>
              <line x1={x(mark.at)} x2={x(mark.at)} y1={FOOT} y2={base} />
              <path d={MARK_SHAPES[mark.kind]} transform={`translate(${x(mark.at)} ${base})`} />
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
