/** Figures of a process, rendered independently, and other small drawings of figures. */

import type { Figure, Sample } from "./history.ts";
import { HOST } from "../../../../model/name.ts";
import { lastHour } from "../data/past.ts";
import { clock, ports } from "../data/store.ts";
import type { Condition } from "../../../../model/process_info.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Age } from "../controls/controls.tsx";
import { bytes, percent, relative, span } from "../data/format.ts";
import { linkTo } from "../data/router.ts";
import { plainLine } from "../logs/ansi.ts";

const SHOWN_PORTS = 2;

/** The reason for waiting: a restart delay, dependencies or cron; else what the app says itself. */
export function Awaited(
  { process: { next_restart_at, state, last_reason, status_text, config } }: {
    process: ProcessJson;
  },
) {
  if (state === "stopped" && config.cron !== undefined) return <span class="health">cron</span>;
  if (state !== "waiting") {
    return status_text
      ? <span class="health clip" title={status_text}>{plainLine(status_text)}</span>
      : null;
  }
  const reason = next_restart_at === null
    ? last_reason.replace(/^waiting /, "")
    : `again ${relative(Date.parse(next_restart_at), clock.value)}`;
  return <span class="health clip" title={last_reason}>{reason}</span>;
}

/** CPU or memory, now and over the last hour. */
export function Measure({ name, of, now }: { name: string; of: "cpu" | "memory"; now: number }) {
  const [most, title, text] = of === "cpu"
    ? [10, "CPU, percent of one core", percent(now)]
    : [now * 1.5, "Resident memory", bytes(now)];
  return (
    <span class={`measure ${of}`} title={`${title}; the small chart is the last hour`}>
      <Sparkline samples={lastHour.value.get(name) ?? []} of={of} most={most} />
      <span class="number">{text}</span>
    </span>
  );
}

/** The first listening ports; the tooltip has all. */
export function Ports({ id }: { id: string }) {
  const known = ports.value.get(id) ?? [];
  if (known.length === 0) return null;
  const more = known.length - SHOWN_PORTS;
  return (
    <span class="number" title={`Listens on ${known.join(", ")}`}>
      {known.slice(0, SHOWN_PORTS).map((port) => `:${port}`).join(" ")}
      {more > 0 && <span class="faint">{` +${more}`}</span>}
    </span>
  );
}

/** Uptime, or the time of its end. */
export function Uptime(
  { process: { state, started_at, finished_at, pid } }: { process: ProcessJson },
) {
  if (started_at !== null && pid !== 0) return <>{span(clock.value - Date.parse(started_at))}</>;
  if (state === "waiting" || finished_at === null) return <>–</>;
  return <Age at={finished_at} kind="faint" />;
}

const SHAPES: Readonly<Record<Condition, string>> = {
  running: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z",
  unhealthy: "M8 .5 15.5 8 8 15.5.5 8z",
  starting: "M8 1.5a6.5 6.5 0 1 0 0 13v-2a4.5 4.5 0 0 1 0-9zM8 1.5a6.5 6.5 0 0 1 0 13z",
  stopping: "M8 1.5a6.5 6.5 0 1 1 0 13v-2a4.5 4.5 0 0 0 0-9zM8 1.5a6.5 6.5 0 0 0 0 13z",
  stopped: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zm0 2a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9z",
  waiting: "M3 1h10v3L9.5 8l3.5 4v3H3v-3l3.5-4L3 4z",
  crashed: "M8 1l7.5 13.5H.5z",
  errored: "M4.8 1h6.4L15 4.8v6.4L11.2 15H4.8L1 11.2V4.8z",
};

export function StateShape({ state, size = 10 }: { state: Condition; size?: number }) {
  return (
    <svg
      class={`shape is-${state}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      <path d={SHAPES[state]} />
    </svg>
  );
}

export function StateBadge({ state }: { state: Condition }) {
  return (
    <span class={`badge is-${state}`}>
      <StateShape state={state} />
      {state}
    </span>
  );
}

/** What the state does not say. */
export function HealthBadge(
  { process }: { process: Pick<ProcessJson, "health" | "state" | "ready"> },
) {
  const { health, state, ready } = process;
  if (health === "healthy") return <span class="health is-healthy">✓ healthy</span>;
  if (health === "unhealthy") return null;
  if (state === "running" && !ready) return <span class="health">not ready</span>;
  return null;
}

const [WIDTH, HEIGHT] = [64, 18];
/** Time range of a sparkline. */
const SHOWN_MS = 3_600_000;

interface SparklineProps {
  readonly samples: readonly Sample[];
  readonly of: Figure;
  /** Minimum value at the top. */
  readonly most: number;
}

/** Hidden from screen readers: the figure is beside it. */
function Sparkline({ samples, of, most }: SparklineProps) {
  const end = samples.at(-1)?.at ?? 0;
  const top = Math.max(most, ...samples.map((sample) => sample[of] ?? 0)) || 1;
  const points = samples.map(({ at, [of]: value = 0 }) => {
    const x = WIDTH - (end - at) / SHOWN_MS * WIDTH;
    const y = HEIGHT - 1 - value / top * (HEIGHT - 3);
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  const line = points.length < 2 ? "" : `M${points.join("L")}`;
  const left = points[0]?.split(" ")[0] ?? "0";
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {line && <path class="area" d={`${line}L${WIDTH} ${HEIGHT}L${left} ${HEIGHT}Z`} />}
      <path class="line" d={line} />
    </svg>
  );
}

export function Tile({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div class="tile">
      <span class="faint small clip">{title}</span>
      <strong class="number">{text}</strong>
    </div>
  );
}

interface StripBar {
  readonly ok: boolean;
  /** Height, from 0 to 1. */
  readonly size: number;
  /** True for a skipped run, which neither succeeded nor failed. */
  readonly skipped?: boolean;
  readonly title: string;
}

const [BAR_WIDTH, BAR_GAP, STRIP_HEIGHT] = [7, 2, 28];

/** A visual summary of a table. Failures are red and crossed out. */
export function Strip({ bars, label }: { bars: readonly StripBar[]; label: string }) {
  const width = Math.max(1, bars.length) * (BAR_WIDTH + BAR_GAP) - BAR_GAP;
  return (
    <svg
      class="strip"
      width={width}
      height={STRIP_HEIGHT}
      viewBox={`0 0 ${width} ${STRIP_HEIGHT}`}
      role="img"
      aria-label={label}
    >
      {bars.map(({ ok, size, skipped, title }, index) => {
        const height = Math.max(4, Math.round(size * (STRIP_HEIGHT - 2)));
        const x = index * (BAR_WIDTH + BAR_GAP);
        return (
          <g key={index} class={skipped ? "faint" : ok ? "is-running" : "is-crashed"}>
            <title>{title}</title>
            <rect x={x} y={STRIP_HEIGHT - height} width={BAR_WIDTH} height={height} rx="1.5" />
            {!ok && !skipped && <path d={`M${x + 1.5} ${STRIP_HEIGHT - 6}l4 4m0-4l-4 4`} />}
          </g>
        );
      })}
    </svg>
  );
}

/** The name of an app, which leads to it; the host has no page. */
export function AppName({ name }: { readonly name: string }) {
  if (name === HOST) return <strong>host</strong>;
  return <a class="clip" href={linkTo(["processes", name])}>{name}</a>;
}
