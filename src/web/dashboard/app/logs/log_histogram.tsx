/** A histogram above the lines: their number by time and level. */

import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { LOG_LEVELS, type LogLevel } from "../../../../model/log_line.ts";
import { usePolled } from "../data/polled.ts";
import { range, setRange } from "../data/router.ts";
import { lookingAt, SPANS } from "../data/time_range.ts";
import { Axis, axisHandlers, useTimeAxis } from "../host/chart.tsx";
import { clockTime, counted, dateTime } from "../data/format.ts";
import { linesIn, type LogQuery } from "./log_query.ts";

const [HEIGHT, FOOT] = [58, 18];
const STEPS = 90;

const LOOKS: Readonly<Record<LogLevel, string>> = {
  ...{ debug: "faint", info: "accent", warn: "is-waiting", error: "is-crashed" },
};

/** The histogram. A click goes to that moment, a drag zooms in. */
export function LogHistogram({ query, total }: {
  readonly query: LogQuery;
  /** Set to the number of all lines, if they are counted. */
  readonly total: Signal<number | undefined>;
}) {
  const axis = useTimeAxis();
  const { width, from, to } = axis;
  const { span } = range.value;
  const { data } = usePolled(
    "log_counts",
    { ...linesIn(query, range.value), steps: STEPS },
    span === undefined ? Infinity : SPANS[span][1] / STEPS,
  );
  const { counts = [], step = 0, counted_since = "" } = data.value ?? {};
  const most = Math.max(
    1,
    ...counts.map((one) => LOG_LEVELS.reduce((sum, level) => sum + one[level], 0)),
  );
  const sum = (level: LogLevel) => counts.reduce((sum, one) => sum + one[level], 0);
  const wide = Math.max(1, step / 1e6 / (to - from) * width - 1);
  const since = Date.parse(counted_since);
  const isPart = data.value !== undefined && since > Date.parse(data.value.since);
  useEffect(() => {
    total.value = isPart ? undefined : LOG_LEVELS.reduce((all, level) => all + sum(level), 0);
    return () => total.value = undefined;
  }, [data.value]);
  return (
    <div ref={axis.frame} class="histogram">
      <svg
        class="timed"
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={`Lines over time: ${counted(sum("error"), "error")}, ${
          counted(sum("warn"), "warning")
        }, ${counted(sum("info") + sum("debug"), "other line")}`}
        {...axisHandlers(axis, (at) => setRange(lookingAt(at, range.value)))}
      >
        {counts.map((one) => {
          const x = axis.x(Date.parse(one.at));
          let y = HEIGHT - FOOT;
          const text = LOG_LEVELS.filter((level) => one[level] > 0)
            .map((level) => `${one[level].toLocaleString("en")} ${level}`).join(", ");
          return (
            <g key={one.at}>
              <title>{`${dateTime(Date.parse(one.at))}: ${text}`}</title>
              {LOG_LEVELS.map((level) => {
                if (one[level] === 0) return null;
                const height = Math.max(1.5, one[level] / most * (HEIGHT - FOOT - 4));
                y -= height;
                return <rect key={level} class={LOOKS[level]} {...{ x, y, height }} width={wide} />;
              })}
            </g>
          );
        })}
        <Axis axis={axis} height={HEIGHT} />
      </svg>
      {isPart && (
        <p class="faint small">
          Lines are counted from {clockTime(since)} on: before, there are too many.
        </p>
      )}
    </div>
  );
}
