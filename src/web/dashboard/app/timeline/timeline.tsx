/** The screen of what happened: a lane for each app over time, and what changed in the range shown. */

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Button, NothingYet } from "../controls/controls.tsx";
import { RangePicker } from "../controls/range_picker.tsx";
import { clockTime, counted } from "../data/format.ts";
import { type EventJson, MOST_EVENTS, useEvents } from "../data/past.ts";
import { usePolled } from "../data/polled.ts";
import { linkTo, logLink, range } from "../data/router.ts";
import { happened, processList } from "../data/store.ts";
import { lookingAt, sinceUntil } from "../data/time_range.ts";
import { Axis, axisHandlers, useTimeAxis } from "../host/chart.tsx";
import { AXIS_HEIGHT } from "../host/time_axis.ts";
import { Attention } from "./attention.tsx";
import { Changes } from "./changes.tsx";
import { EventLog } from "./events.tsx";
import { isFailure, KINDS, type Lane, lanesOf, type Tick } from "./lanes.ts";

const EVERY_MS = 30_000;
/** Lanes are computed anew when the range has moved by so much. */
const STEP_MS = 5000;

export function Timeline() {
  return (
    <>
      <div class="page-head">
        <h1>Timeline</h1>
        <RangePicker />
      </div>
      {processList.value.length === 0 ? <NothingYet /> : <Attention />}
      <Past />
    </>
  );
}

function Past() {
  const { data } = useEvents({ limit: MOST_EVENTS }, range.value);
  const { events = [], truncated = false } = data.value ?? {};
  return (
    <>
      {processList.value.length + events.length > 0 && <Lanes events={events} />}
      {truncated && (
        <p class="faint small">
          Only the latest {counted(MOST_EVENTS, "event")} of this time: choose a shorter one.
        </p>
      )}
      <div class="two">
        <Changes events={events} />
        <section class="stack" aria-label="All events">
          <EventLog />
        </section>
      </div>
    </>
  );
}

const [LANE, BAR] = [26, 12];
const SHOWN = 40;

function Lanes({ events }: { events: readonly EventJson[] }) {
  const axis = useTimeAxis();
  const { from, to, x, width } = axis;
  const isAll = useSignal(false);
  const jobs = usePolled("cron_list", undefined, EVERY_MS, happened.value).data.value;
  const gaps = useGaps();
  const processes = processList.value;
  const step = Math.floor(to / STEP_MS);
  const lanes = useMemo(() => {
    const stretch = { from: Math.floor(from / STEP_MS) * STEP_MS, to: (step + 1) * STEP_MS };
    return lanesOf({ events, processes, jobs: jobs ?? [], ...stretch });
  }, [events, jobs, processes, step, to - from]);
  const shown = isAll.value ? lanes : lanes.slice(0, SHOWN);
  const height = shown.length * LANE + AXIS_HEIGHT;
  const pick = (at: number, _pixelMs: number, y: number) => {
    const lane = shown[Math.floor(y / LANE)];
    location.hash = logLink(lane?.name, lookingAt(at, range.value));
  };
  return (
    <section class="panel lanes" aria-label="Apps over time">
      <ol class="lane-names">
        {shown.map(({ name }) => (
          <li key={name}>
            <a class="clip" href={linkTo(["processes", name])} title={name}>{name}</a>
          </li>
        ))}
      </ol>
      <div ref={axis.frame} class="lane-frame">
        <svg
          class="timed"
          width={width}
          height={height}
          role="img"
          aria-label={summary(shown)}
          {...axisHandlers(axis, pick)}
        >
          {shown.map((lane, index) => (
            <g key={lane.name} transform={`translate(0 ${index * LANE})`}>
              <LaneBar lane={lane} x={x} />
            </g>
          ))}
          {gaps.map((gap) => (
            <rect
              key={gap.from}
              class="gap"
              x={x(gap.from)}
              width={Math.max(2, x(gap.to) - x(gap.from))}
              height={height - AXIS_HEIGHT}
            >
              <title>{`Daemon down ${clockTime(gap.from)}–${clockTime(gap.to)}`}</title>
            </rect>
          ))}
          <Axis axis={axis} height={height} />
        </svg>
      </div>
      <Legend lanes={shown} gaps={gaps} />
      {lanes.length > shown.length && (
        <Button kind="quiet" onClick={() => isAll.value = true}>
          {`Show all ${lanes.length} apps`}
        </Button>
      )}
    </section>
  );
}

function LaneBar({ lane: { states, ticks, runs }, x }: {
  readonly lane: Lane;
  readonly x: (at: number) => number;
}) {
  const top = (LANE - BAR) / 2;
  return (
    <>
      {states.map(({ from, to, state }) =>
        state !== "absent" && (
          <rect
            key={from}
            class={`lane-state is-${state}`}
            x={x(from)}
            y={top}
            width={Math.max(1, x(to) - x(from))}
            height={BAR}
          >
            <title>{`${state} ${clockTime(from)}–${clockTime(to)}`}</title>
          </rect>
        )
      )}
      {runs.map(({ from, to, ok }) => (
        <rect
          key={from}
          class={`lane-run ${ok ? "is-running" : "is-crashed"}`}
          x={x(from)}
          y={top - 3}
          width={Math.max(3, x(to) - x(from))}
          height={BAR + 6}
          rx="2"
        >
          <title>{`Run ${clockTime(from)}–${clockTime(to)}: ${ok ? "ok" : "failed"}`}</title>
        </rect>
      ))}
      {ticks.map((tick, index) => (
        <text
          key={`${tick.at} ${index}`}
          class={`tick is-${toneOf(tick)}`}
          x={x(tick.at)}
          y={LANE / 2}
        >
          {KINDS[tick.kind][0]}
          <title>{`${clockTime(tick.at)} ${tick.name} ${KINDS[tick.kind][1]} ${tick.text}`}</title>
        </text>
      ))}
    </>
  );
}

function toneOf({ kind }: Tick): string {
  return isFailure(kind) ? "failure" : kind === "released" ? "start" : "end";
}

function summary(lanes: readonly Lane[]): string {
  const failed = lanes.flatMap(({ name, ticks }) => {
    const count = ticks.filter(({ kind }) => isFailure(kind)).length;
    return count === 0 ? [] : [`${name}: ${counted(count, "failure")}`];
  });
  return `${counted(lanes.length, "app")} over time. ${failed.join(", ") || "No failures"}`;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** The times in which no daemon ran. */
function useGaps(): readonly Gap[] {
  const payload = { ...sinceUntil(range.value), points: 1, fields: ["up"] } as const;
  const ms = range.value.span === undefined ? Infinity : EVERY_MS;
  const { data } = usePolled("metrics_history", payload, ms);
  return (data.value?.gaps ?? [])
    .map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) }));
}

/** The kinds of ticks that are shown, and the times without a daemon in words. */
function Legend({ lanes, gaps }: {
  readonly lanes: readonly Lane[];
  readonly gaps: readonly Gap[];
}) {
  const ticks = lanes.flatMap(({ ticks }) => ticks);
  const kinds = [...Map.groupBy(ticks, ({ kind }) => kind)];
  if (kinds.length === 0 && gaps.length === 0) return null;
  return (
    <ul class="legend small">
      {kinds.map(([kind, some]) => (
        <li key={kind}>
          <span class={`mark is-${toneOf(some[0]!)}`} aria-hidden="true">{KINDS[kind][0]}</span>
          {` ${KINDS[kind][1]} × ${some.length}`}
        </li>
      ))}
      {gaps.map(({ from, to }) => (
        <li key={from}>{`Daemon down ${clockTime(from)}–${clockTime(to)}`}</li>
      ))}
    </ul>
  );
}
