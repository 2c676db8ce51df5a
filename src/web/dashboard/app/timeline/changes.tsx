/** What changed in the range shown: releases, ended runs, errors, and the apps whose usage moved most. */

import type { ComponentChildren } from "preact";
import { bytes, clockTime, percent } from "../data/format.ts";
import type { EventJson } from "../data/past.ts";
import { usePolled } from "../data/polled.ts";
import { linkTo, logLink, range } from "../data/router.ts";
import { AppName } from "../process/process_figures.tsx";
import { plainLine } from "../logs/ansi.ts";
import { lookingAt, rangeText, sinceUntil } from "../data/time_range.ts";
import { type Course, isFailure, KINDS, type Move, moves, type Tick, ticksOf } from "./lanes.ts";

const EVERY_MS = 60_000;

export function Changes({ events }: { events: readonly EventJson[] }) {
  const ticks = ticksOf(events);
  const releases = ticks.filter(({ kind }) => kind === "released" || kind === "release_failed");
  const alerts = ticks.filter(({ kind }) => kind === "alert");
  const ends = ticks.filter((tick) => !releases.includes(tick) && !alerts.includes(tick));
  return (
    <section class="panel changes" aria-labelledby="changes">
      <h2 id="changes">What changed</h2>
      <Part title="Releases" isEmpty={releases.length === 0}>
        {releases.toReversed().map((tick) => (
          <Change key={`${tick.at} ${tick.name}`} ticks={[tick]} />
        ))}
      </Part>
      <Part title="Alerts" isEmpty={alerts.length === 0}>
        {[...Map.groupBy(alerts, ({ name, text }) => `${name} ${text}`).values()]
          .map((some) => <Change key={`${some[0]!.name} ${some[0]!.text}`} ticks={some} />)}
      </Part>
      <Part title="Ended runs" isEmpty={ends.length === 0}>
        {[...Map.groupBy(ends, ({ kind, name }) => `${kind} ${name}`).values()]
          .sort((a, b) => Number(isFailure(b[0]!.kind)) - Number(isFailure(a[0]!.kind)))
          .map((some) => <Change key={`${some[0]!.kind} ${some[0]!.name}`} ticks={some} />)}
      </Part>
      <Errors />
      <Movers />
    </section>
  );
}

/** A list with a heading; nothing if it is empty. */
function Part({ title, isEmpty, children }: {
  readonly title: string;
  readonly isEmpty: boolean;
  readonly children: ComponentChildren;
}) {
  if (isEmpty) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>{children}</ul>
    </>
  );
}

function Moment({ at, name }: Pick<Tick, "at" | "name">) {
  return (
    <a href={logLink(name, lookingAt(at, range.value))} title="The log of that second">
      <time class="number" dateTime={new Date(at).toISOString()}>{clockTime(at)}</time>
    </a>
  );
}

/** A release, alerts, or runs that ended for the same cause, with the reason of the last one. */
function Change({ ticks }: { ticks: readonly Tick[] }) {
  const last = ticks.at(-1)!;
  return (
    <li>
      <Moment {...last} />
      <AppName name={last.name} />
      <span class={isFailure(last.kind) ? "bad" : ""}>{KINDS[last.kind][1]}</span>
      {ticks.length > 1 && <span>× {ticks.length}</span>}
      <span class="faint">{last.text}</span>
    </li>
  );
}

/** How many patterns are shown. */
const PATTERNS = 8;

/** Errors in logs, by pattern. */
function Errors() {
  const ms = range.value.span === undefined ? Infinity : EVERY_MS;
  const { data } = usePolled("search_logs", {
    ...{ ...sinceUntil(range.value), level: "error", group_similar: true, limit: PATTERNS },
  }, ms);
  const { patterns = [], truncated = false } = data.value ?? {};
  return (
    <Part title="Errors in logs" isEmpty={patterns.length === 0}>
      {patterns.map(({ name, count, at, line, apps }) => (
        <li key={`${name} ${line}`}>
          <Moment at={Date.parse(at)} name={name} />
          {apps.map((app) => <AppName key={app} name={app} />)}
          <strong class="number">×{count}</strong>
          <code class="pattern">{plainLine(line)}</code>
        </li>
      ))}
      {truncated && (
        <li>
          <a href={linkTo(["logs"], `level=error&${rangeText(range.value)}`)}>All errors</a>
        </li>
      )}
    </Part>
  );
}

/** Least changes that are told. */
const [LEAST_CPU, LEAST_BYTES] = [1, 1024 ** 2];
/** Enough to compare the beginning of a range with its end. */
const POINTS = 4;

function Movers() {
  const ms = range.value.span === undefined ? Infinity : EVERY_MS;
  const { data } = usePolled("metrics_history", {
    ...{ ...sinceUntil(range.value), target: "all", points: POINTS },
    fields: ["cpu_percent", "memory_bytes"],
  }, ms);
  const courses = (of: "cpu_percent" | "memory_bytes"): readonly Course[] =>
    (data.value?.series ?? []).map(({ name, points }) => ({
      name: name ?? "",
      values: points.map((point) => point[of]).filter((value) => value != null),
    }));
  return (
    <>
      <Moved title="CPU" moves={moves(courses("cpu_percent"), LEAST_CPU)} format={percent} />
      <Moved title="Memory" moves={moves(courses("memory_bytes"), LEAST_BYTES)} format={bytes} />
    </>
  );
}

function Moved({ title, moves, format }: {
  readonly title: string;
  readonly moves: readonly Move[];
  readonly format: (value: number) => string;
}) {
  return (
    <Part title={`${title} moved most`} isEmpty={moves.length === 0}>
      {moves.map(({ name, before, after }) => (
        <li key={name} class="row between">
          <AppName name={name} />
          <span class="number small">{`${format(before)} → ${format(after)}`}</span>
        </li>
      ))}
    </Part>
  );
}
